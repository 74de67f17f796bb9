package io.github.gpujoin.rdma.session;

import javax.net.ServerSocketFactory;
import javax.net.SocketFactory;

/**
 * Where the sockets of control connections come from: both ends speak TLS, or neither does.
 *
 * <p>Server sockets of TLS show a certificate and ask for one, whatever the factory's own defaults
 * are; they speak TLS 1.2 or later.
 *
 * @param server for {@link TcpControlServer}; thread-safe
 * @param client for {@link TcpControlLink#dialer}; thread-safe
 */
public record ControlSockets(ServerSocketFactory server, SocketFactory client) {

    /** No TLS: the attempt's token is proved, and nothing is encrypted. */
    public static final ControlSockets PLAIN =
            new ControlSockets(ServerSocketFactory.getDefault(), SocketFactory.getDefault());
}
