// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Writes of one process into memory of another. {@link io.github.gpujoin.rdma.transport.Transport}
 * is the contract, with its two kinds {@code SharedTransport} and {@code OneSidedTransport}. {@code
 * shm} implements it over shared memory, {@code disni} over RDMA verbs.
 */
package io.github.gpujoin.rdma.transport;
