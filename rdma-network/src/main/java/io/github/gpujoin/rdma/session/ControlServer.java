// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.net.InetSocketAddress;

/** Accepts the control connections of writers to the rings of this process. */
public interface ControlServer extends AutoCloseable {

    /** Returns the address on which the server listens, with its port. */
    InetSocketAddress address();

    /**
     * Passes accepted connections to a listener, as many as it permits now, and calls {@link
     * SessionListener#step}. The other connections wait in a queue; if it is full, the server
     * closes them. For one thread; never blocks.
     *
     * @param nowNs current time, monotonic
     * @throws IllegalStateException if this process can accept no more connections, now and at each
     *     later call
     */
    void step(SessionListener listener, long nowNs);

    /** Stops listening and closes connections that no listener has received. Idempotent. */
    @Override
    void close();
}
