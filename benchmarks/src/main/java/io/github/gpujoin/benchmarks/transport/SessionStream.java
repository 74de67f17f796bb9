// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.region.Memory;
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
import org.jspecify.annotations.Nullable;

/** Sessions from {@link SessionSender} in a process of its own to this one. */
public final class SessionStream implements Stream {

    private static final int RING_BYTES = 8 << 20;
    private static final int MIN_SLOTS = 8;
    private static final int MAX_SLOTS = 64;

    private final Shipment shipment;
    private final Arrivals arrivals = new Arrivals();
    private final UUID job = UUID.randomUUID();
    private final JobSecret secret = JobSecret.random();
    private final Transport transport;
    private final List<ReaderSession> sessions = new ArrayList<>();
    private final List<Thread> threads = new ArrayList<>();
    private final SessionListener listener =
            new SessionListener(
                    job, secret, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);
    private final TcpControlServer server =
            new TcpControlServer(
                    new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                    ControlSockets.PLAIN);
    private final Process sender;
    private volatile @Nullable Exception failure;
    private volatile boolean closed;

    public SessionStream(Shipment shipment) throws IOException {
        this.shipment = shipment;
        this.transport = new ShmTransport(ShmTransport.DEFAULT_DIRECTORY);
        int slots = Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, RING_BYTES / shipment.chunkBytes()));
        RingGeometry ring = RingGeometry.forPayload(slots, shipment.chunkBytes());
        for (int channel = 0; channel < shipment.channels(); channel++) {
            ReaderSession session =
                    new ReaderSession(
                            channel, ring, transport, SessionOptions.DEFAULT, System.nanoTime());
            sessions.add(session);
            listener.add(session);
        }
        sender = startSender();
        int threadCount = threadCount(shipment.channels());
        for (int i = 0; i < threadCount; i++) {
            int index = i;
            Thread thread = new Thread(() -> receive(index, threadCount), "receiver " + i);
            threads.add(thread);
            thread.start();
        }
    }

    /** Half of the cores send and half receive. */
    static int threadCount(int channels) {
        return Math.max(1, Math.min(channels, Runtime.getRuntime().availableProcessors() / 2));
    }

    private Process startSender() throws IOException {
        Process process =
                new ProcessBuilder(
                                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                                "-Xmx256m",
                                "-cp",
                                System.getProperty(
                                        "surefire.test.class.path",
                                        System.getProperty("java.class.path")),
                                SessionSender.class.getName(),
                                String.valueOf(server.address().getPort()),
                                job.toString(),
                                String.valueOf(shipment.channels()),
                                String.valueOf(shipment.chunkBytes()),
                                String.valueOf(shipment.perSecond()))
                        .redirectError(ProcessBuilder.Redirect.INHERIT)
                        .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                        .start();
        // by a pipe: arguments can be read by other users
        try (OutputStream in = process.getOutputStream()) {
            in.write(secret.token(job, 0).bytes());
        }
        return process;
    }

    private void receive(int index, int step) {
        byte[] chunk = new byte[shipment.chunkBytes()];
        Idle idle = new Idle();
        try {
            while (!closed) {
                if (index == 0) {
                    server.step(listener, System.nanoTime());
                }
                boolean any = false;
                for (int channel = index; channel < sessions.size(); channel += step) {
                    any |= receive(sessions.get(channel), chunk);
                }
                if (any) {
                    idle.reset();
                } else {
                    idle.pause();
                }
            }
        } catch (IOException | RuntimeException e) {
            failure = e;
        }
    }

    private boolean receive(ReaderSession session, byte[] chunk) throws IOException {
        session.step(System.nanoTime());
        if (!session.poll()) {
            return false;
        }
        if (!session.copyTo(chunk)) {
            return false;
        }
        session.release();
        arrivals.add(chunk.length, Memory.getLong(chunk, Memory.BYTES));
        return true;
    }

    @Override
    public Arrivals arrivals() {
        return arrivals;
    }

    @Override
    public long cpuNs() {
        Duration senderTime = sender.info().totalCpuDuration().orElse(Duration.ZERO);
        return Stream.super.cpuNs() + senderTime.toNanos();
    }

    @Override
    public void check() throws Exception {
        if (failure != null) {
            throw failure;
        }
        if (!sender.isAlive()) {
            throw new IllegalStateException(
                    "The sender process exited early: exitValue=" + sender.exitValue());
        }
    }

    @Override
    public void close() throws Exception {
        closed = true;
        for (Thread thread : threads) {
            thread.join();
        }
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
