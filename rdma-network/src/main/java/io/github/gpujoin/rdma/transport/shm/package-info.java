// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * The transport between processes of one host: both map the same memory. Start with {@link
 * io.github.gpujoin.rdma.transport.shm.ShmTransport}; {@code SharedFile} holds the file's life
 * cycle and its checks against other users.
 */
package io.github.gpujoin.rdma.transport.shm;
