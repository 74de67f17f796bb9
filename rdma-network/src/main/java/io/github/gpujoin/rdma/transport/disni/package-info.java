// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The transport between hosts: one-sided writes over RDMA verbs, into host or GPU memory of the
 * reader. Start with {@link io.github.gpujoin.rdma.transport.disni.DisniTransport}; {@code
 * DisniAcceptor} and {@code DisniConnection} are the two ends of its connections.
 */
package io.github.gpujoin.rdma.transport.disni;
