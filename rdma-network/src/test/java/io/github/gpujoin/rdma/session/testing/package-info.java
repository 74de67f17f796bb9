// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support for sessions: networks on which they fail. {@link
 * io.github.gpujoin.rdma.session.testing.FaultyNetwork} has seeded faults, and {@link
 * io.github.gpujoin.rdma.session.testing.BrokenTransport} never connects.
 */
package io.github.gpujoin.rdma.session.testing;
