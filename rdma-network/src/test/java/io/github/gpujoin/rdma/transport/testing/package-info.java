// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/** Test support for transports between two processes, also of shared memory. */
package io.github.gpujoin.rdma.transport.testing;
