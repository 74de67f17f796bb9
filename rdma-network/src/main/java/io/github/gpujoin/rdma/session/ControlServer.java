// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.net.InetSocketAddress;

/** Accepts the control connections of writers. */
public interface ControlServer extends AutoCloseable {

    /** Returns the address on which the server listens, with its port. */
    InetSocketAddress address();

    /**
     * Passes accepted connections to a listener, as many as it permits now. For one thread; never
     * blocks.
     *
     * @throws IllegalStateException if this process can accept no more connections
     */
    void step(SessionListener listener, long nowNs);

    @Override
    void close();
}
