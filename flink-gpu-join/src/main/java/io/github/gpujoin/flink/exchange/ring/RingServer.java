// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.rdma.session.ControlServer;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.transport.Transport;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import java.util.function.Function;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.fs.AutoCloseableRegistry;
import org.apache.flink.util.IOUtils;

/**
 * The receiving ends of some rings, the server to which their writers connect, and the thread that
 * serves both. It has a secret of its own, so tokens of an earlier attempt are invalid.
 */
final class RingServer implements AutoCloseable {

    private final AutoCloseableRegistry resources = new AutoCloseableRegistry();
    private SessionAgent agent;
    private Endpoint endpoint;

    private RingServer() {}

    /**
     * Opens a ring for each channel, and the server.
     *
     * @param name of the user, for the name of the thread
     * @param job identifier in handshakes
     * @param endOf creates the end of a ring, which the server closes
     * @param taskManager configuration of the process
     * @throws IOException if the transport or the address is not available; the message contains
     *     the remedy
     */
    static RingServer open(
            String name,
            RingOptions options,
            UUID job,
            Collection<Integer> channels,
            Function<ReaderSession, RingEnd> endOf,
            Configuration taskManager)
            throws IOException {
        RingServer server = new RingServer();
        try {
            server.start(name, options, job, channels, endOf, taskManager);
            return server;
        } catch (IOException | RuntimeException | Error e) {
            IOUtils.closeQuietly(server);
            throw e;
        }
    }

    private void start(
            String name,
            RingOptions options,
            UUID job,
            Collection<Integer> channels,
            Function<ReaderSession, RingEnd> endOf,
            Configuration taskManager)
            throws IOException {
        options.requireRingLimit(channels.size());
        InetAddress address = options.localAddress(taskManager);
        RingHost host = options.host(taskManager);
        ControlServer server = host.listen(address);
        resources.registerCloseable(server);
        Transport transport = options.openReader(address);
        resources.registerCloseable(transport);
        JobSecret secret = JobSecret.random();
        SessionListener listener =
                new SessionListener(
                        job, secret, options.sessions(), SessionListener.Limits.DEFAULT);
        resources.registerCloseable(listener);
        List<RingEnd> ends = new ArrayList<>();
        for (int channel : channels) {
            ReaderSession session =
                    new ReaderSession(
                            channel,
                            options.geometry(),
                            transport,
                            options.sessions(),
                            System.nanoTime());
            RingEnd end = endOf.apply(session);
            resources.registerCloseable(end);
            listener.add(session);
            ends.add(end);
        }
        // Closed first: its thread uses all others.
        agent = new SessionAgent(name, host);
        resources.registerCloseable(agent);
        agent.add(nowNs -> server.step(listener, nowNs));
        ends.forEach(agent::add);
        InetSocketAddress bound = server.address();
        endpoint =
                new Endpoint(bound.getAddress().getHostAddress(), bound.getPort(), secret.bytes());
    }

    /** Returns the address and the secret. */
    Endpoint endpoint() {
        return endpoint;
    }

    /**
     * Reports a failure of the thread.
     *
     * @throws SessionException if the server or the session of a ring has thrown an exception
     */
    void checkNotFailed() throws SessionException {
        agent.checkNotFailed();
    }

    @Override
    public void close() throws Exception {
        resources.close();
    }
}
