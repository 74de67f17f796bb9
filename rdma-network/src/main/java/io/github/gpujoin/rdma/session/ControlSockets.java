// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;

/**
 * Factories of the sockets of control connections. Both ends use TLS, or neither does.
 *
 * <p>TLS server sockets present a certificate and require one, whatever the factory's defaults are.
 * They use TLS 1.2 or later.
 *
 * @param server for {@link TcpControlServer}; thread-safe
 * @param client for {@link TcpControlLink#dialer}; thread-safe
 */
public record ControlSockets(ServerSocketFactory server, SocketFactory client) {

    /** Without TLS: the attempt's token authenticates both ends, and nothing is encrypted. */
    public static final ControlSockets PLAIN =
            new ControlSockets(ServerSocketFactory.getDefault(), SocketFactory.getDefault());
}
