// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.testing;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.AttemptToken;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.TcpControlServer;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.TransportProcessTest;
import io.github.gpujoin.rdma.transport.shm.ShmTransport;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.LockSupport;

/**
 * One end of a channel between two processes: the other process of {@link TransportProcessTest},
 * which runs the same code for its own end.
 *
 * <p>Arguments: transport, port, attempt, payloads. A transport is {@code shm:DIRECTORY}. It writes
 * its state to standard output, one line for each change, and ends with {@code DONE}.
 */
public final class ProcessPeer {

    public static final UUID JOB = new UUID(11, 12);
    public static final JobSecret SECRET = new JobSecret(new byte[JobSecret.BYTES]);
    public static final RingGeometry RING = RingGeometry.forPayload(8, 4096);

    private static final int IDLE_NS = 20_000;

    private ProcessPeer() {}

    /** A transport by its name on the command line. */
    public static Transport open(String name) throws TransportException {
        if (!name.startsWith("shm:")) {
            throw new IllegalArgumentException(
                    "No such transport: " + name + ". Use shm:DIRECTORY.");
        }
        return new ShmTransport(Path.of(name.substring("shm:".length())));
    }

    public static void main(String[] args) throws Exception {
        int attempt = Integer.parseInt(args[2]);
        int payloads = Integer.parseInt(args[3]);
        try (Transport transport = open(args[0]);
                WriterSession writer = writer(transport, Integer.parseInt(args[1]), attempt)) {
            write(writer, attempt, payloads);
        }
        System.out.println("DONE");
    }

    public static WriterSession writer(Transport transport, int port, int attempt) {
        AttemptToken token = SECRET.token(JOB, attempt);
        InetSocketAddress server = new InetSocketAddress(InetAddress.getLoopbackAddress(), port);
        return new WriterSession(
                JOB,
                attempt,
                0,
                token,
                TcpControlLink.dialer(server, ControlSockets.PLAIN),
                transport,
                SessionOptions.DEFAULT,
                System.nanoTime());
    }

    private static void write(WriterSession writer, int attempt, int payloads) throws Exception {
        String told = "";
        for (int next = 0; next < payloads || !writer.isDrained(); ) {
            String state = writer.state() + (next > payloads / 2 ? " HALF" : "");
            if (!state.equals(told)) {
                System.out.println(state);
                told = state;
            }
            byte[] payload = payload(attempt, next);
            if (next < payloads && writer.tryWrite(payload, Memory.BYTES, payload.length)) {
                next++;
            } else {
                LockSupport.parkNanos(IDLE_NS);
            }
            writer.step(System.nanoTime());
        }
    }

    public static byte[] payload(int attempt, int index) {
        Random random = new Random((long) attempt << 32 | index);
        byte[] payload = new byte[8 * (1 + random.nextInt(RING.payloadCapacityBytes() / 8))];
        random.nextBytes(payload);
        return payload;
    }

    /** The reading end: verifies every byte. */
    public static final class Reader implements AutoCloseable {

        private final Transport transport;
        private final ReaderSession session;
        private final SessionListener listener;
        private final TcpControlServer server;
        private int attempt = -1;
        private int received;

        public Reader(String transportName) throws Exception {
            transport = open(transportName);
            session =
                    new ReaderSession(
                            0, RING, transport, SessionOptions.DEFAULT, System.nanoTime());
            listener =
                    new SessionListener(
                            JOB, SECRET, SessionOptions.DEFAULT, SessionListener.Limits.DEFAULT);
            listener.add(session);
            server =
                    new TcpControlServer(
                            new InetSocketAddress(InetAddress.getLoopbackAddress(), 0),
                            ControlSockets.PLAIN);
        }

        public int port() {
            return server.address().getPort();
        }

        public ReaderSession session() {
            return session;
        }

        public int received() {
            return received;
        }

        /** Reads all payloads that have arrived. */
        public void step() throws Exception {
            long nowNs = System.nanoTime();
            server.step(listener, nowNs);
            session.step(nowNs);
            if (session.attempt() != attempt) {
                attempt = session.attempt();
                received = 0;
            }
            boolean idle = true;
            byte[] found;
            while ((found = next()) != null) {
                idle = false;
                if (!Arrays.equals(found, payload(attempt, received))) {
                    throw new AssertionError(
                            "Payload differs: attempt=" + attempt + ", index=" + received);
                }
                received++;
                session.release();
            }
            if (idle) {
                LockSupport.parkNanos(IDLE_NS);
            }
        }

        /** Returns the next payload; null if it is not intact. */
        private byte[] next() {
            if (!session.poll()) {
                return null;
            }
            byte[] payload = new byte[session.lengthBytes()];
            return session.copyTo(payload) ? payload : null;
        }

        @Override
        public void close() {
            server.close();
            listener.close();
            session.close();
            transport.close();
        }
    }

    /** The reading end as a process of its own; prints its port first. */
    public static final class ReaderMain {

        private ReaderMain() {}

        public static void main(String[] args) throws Exception {
            try (Reader reader = new Reader(args[0])) {
                System.out.println("PORT " + reader.port());
                String told = "";
                while (true) {
                    reader.step();
                    String state =
                            reader.session().state() + (reader.received() > 100 ? " READING" : "");
                    if (!state.equals(told)) {
                        System.out.println(state);
                        told = state;
                    }
                }
            }
        }
    }
}
