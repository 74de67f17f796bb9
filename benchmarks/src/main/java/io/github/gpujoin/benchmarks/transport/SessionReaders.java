// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlServer;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The reading ends of rings in shared memory, and the process that writes them. Each session
 * belongs to one thread; one thread calls {@link #step}.
 */
public final class SessionReaders implements AutoCloseable {

    private final UUID job = UUID.randomUUID();
    private final JobSecret secret = JobSecret.random();
    private final Transport transport = new ShmTransport(ShmTransport.DEFAULT_DIRECTORY);
    private final List<ReaderSession> sessions = new ArrayList<>();
    private final SessionListener listener =
            new SessionListener(
                    job, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);
    private final TcpControlServer server =
            new TcpControlServer(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    ControlSockets.PLAIN);
    private final Process sender;

    /**
     * Opens the rings and starts the writer.
     *
     * @param channels count of rings
     * @param senderClass main class of the writer, which parses its arguments as a {@link
     *     SenderSessions}
     * @param arguments of the writer behind those of its sessions
     */
    public SessionReaders(
            int channels, RingGeometry ring, Class<?> senderClass, Object... arguments)
            throws IOException {
        for (int channel = 0; channel < channels; channel++) {
            ReaderSession session =
                    new ReaderSession(
                            channel, ring, transport, SessionOptions.DEFAULT, System.nanoTime());
            sessions.add(session);
            listener.add(session);
        }
        sender = start(senderClass, channels, arguments);
    }

    private Process start(Class<?> senderClass, int channels, Object... arguments)
            throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx256m");
        command.add("-cp");
        command.add(
                System.getProperty(
                        "surefire.test.class.path", System.getProperty("java.class.path")));
        command.add(senderClass.getName());
        command.add(String.valueOf(server.address().getPort()));
        command.add(job.toString());
        command.add(String.valueOf(channels));
        for (Object argument : arguments) {
            command.add(String.valueOf(argument));
        }
        Process process =
                new ProcessBuilder(command)
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        // by a pipe: arguments can be read by other users
        try (OutputStream in = process.getOutputStream()) {
            in.write(secret.token(job, 0).bytes());
        }
        return process;
    }

    /** Returns the reading end of each channel. */
    public List<ReaderSession> sessions() {
        return sessions;
    }

    /** Continues handshakes. */
    public void step() throws IOException {
        server.step(listener, System.nanoTime());
    }

    /** Returns the processor time of the writer. */
    public long senderCpuNs() {
        return sender.info().totalCpuDuration().orElse(Duration.ZERO).toNanos();
    }

    /**
     * Checks that the writer runs.
     *
     * @throws IllegalStateException if it has ended
     */
    public void requireSender() {
        if (!sender.isAlive()) {
            throw new IllegalStateException(
                    "The sender process exited early: exitValue=" + sender.exitValue());
        }
    }

    /** Ends the writer and closes all rings. No thread may use a session any more. */
    @Override
    public void close() throws Exception {
        sender.destroy();
        if (!sender.waitFor(10, TimeUnit.SECONDS)) {
            sender.destroyForcibly();
        }
        server.close();
        listener.close();
        sessions.forEach(ReaderSession::close);
        transport.close();
    }
}
