// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
/**
 * Sessions between one writer and one reader of a ring: authentication, epochs, credit, heartbeats
 * and retransmission after a broken connection. {@link
 * io.github.gpujoin.rdma.session.ControlMessage} shows the protocol; start with {@link
 * io.github.gpujoin.rdma.session.WriterSession} and {@link
 * io.github.gpujoin.rdma.session.ReaderSession}.
 */
package io.github.gpujoin.rdma.session;
