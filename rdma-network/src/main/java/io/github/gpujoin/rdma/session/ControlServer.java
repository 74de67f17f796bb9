package io.github.gpujoin.rdma.session;

import java.net.InetSocketAddress;

/** Where the control connections of writers come in. */
public interface ControlServer extends AutoCloseable {

    /** The address listened on, with its port. */
    InetSocketAddress address();

    /**
     * Hands over the connections that came, as many as the listener takes now. For one thread;
     * never blocks.
     *
     * @throws IllegalStateException if this process cannot accept connections any more
     */
    void step(SessionListener listener, long nowNs);

    @Override
    void close();
}
