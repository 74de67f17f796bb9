// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Test support, in the module's test jar: a transport inside one process with the faults of a
 * network. Writes are lost, duplicated, torn, reordered and delayed; the same seed reproduces the
 * same faults. Start with {@link io.github.gpujoin.rdma.testing.SimulatedTransport}.
 */
package io.github.gpujoin.rdma.testing;
