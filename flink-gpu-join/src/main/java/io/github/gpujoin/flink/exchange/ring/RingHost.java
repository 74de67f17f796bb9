// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.ControlLink;
import io.github.gpujoin.rdma.session.ControlServer;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;

/**
 * The control connections and threads of a process, for the rings of a subtask. Simulations replace
 * it.
 */
public interface RingHost {

    /**
     * Listens for control connections on a free port.
     *
     * @param address the only address to listen on
     * @throws IOException if the address is not available
     */
    ControlServer listen(InetAddress address) throws IOException;

    /**
     * Returns a dialer of the server of another subtask. Does not connect.
     *
     * @param server address of the server, resolved
     */
    ControlLink.Dialer dialer(InetSocketAddress server);

    /**
     * Runs an action repeatedly on a thread of its own, at intervals far below the heartbeat
     * interval.
     *
     * @param name of the thread
     * @param failed receives what a round throws, on the same thread; the rounds continue
     * @return stops the rounds; its close waits for the current round, also if interrupted
     */
    AutoCloseable repeat(String name, Runnable round, Consumer<Throwable> failed);

    /**
     * Returns the host of this process: TCP sockets, secured according to {@link RingSecurity}, and
     * one thread per subtask.
     *
     * @param taskManager configuration of the process
     */
    static RingHost process(Configuration taskManager) {
        return new ProcessHost(taskManager);
    }
}
