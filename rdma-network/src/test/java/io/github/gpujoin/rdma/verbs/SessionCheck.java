// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ControlSockets;
import io.github.gpujoin.rdma.session.JobSecret;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.SessionException;
import io.github.gpujoin.rdma.session.SessionListener;
import io.github.gpujoin.rdma.session.SessionOptions;
import io.github.gpujoin.rdma.session.TcpControlLink;
import io.github.gpujoin.rdma.session.TcpControlServer;
import io.github.gpujoin.rdma.session.WriterSession;
import io.github.gpujoin.rdma.session.WriterState;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.disni.DisniTransport;
import io.github.gpujoin.rdma.transport.disni.GpuTargets;
import io.github.gpujoin.rdma.transport.disni.testing.CopiedRings;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.util.Arrays;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * The case {@link CheckCase#SESSION}: chunks through a session over {@link DisniTransport}. A
 * writer of a second attempt replaces the first one, which still runs and is disconnected.
 */
final class SessionCheck {

    private static final UUID JOB = new UUID(7, 1);
    private static final JobSecret SECRET = new JobSecret(new byte[JobSecret.BYTES]);
    private static final RingGeometry GEOMETRY =
            RingGeometry.forPayload(CheckRing.SLOTS, CheckRing.MAX_CHUNK_BYTES + Long.BYTES);
    private static final int CHUNKS = 100;
    private static final int CHUNKS_OF_FIRST_ATTEMPT = 40;
    private static final long PATIENCE_NS = TimeUnit.SECONDS.toNanos(60);

    /** A guest without KVM needs seconds for steps that take a host milliseconds. */
    private static final SessionOptions SLOW =
            new SessionOptions(
                    TimeUnit.MILLISECONDS.toNanos(100),
                    TimeUnit.SECONDS.toNanos(10),
                    TimeUnit.SECONDS.toNanos(10),
                    TimeUnit.SECONDS.toNanos(20),
                    TimeUnit.MILLISECONDS.toNanos(50),
                    TimeUnit.SECONDS.toNanos(60));

    private SessionCheck() {}

    /**
     * @param inGpuMemory whether rings are registered and read like rings in GPU memory
     */
    static void receive(
            InetAddress address, boolean inGpuMemory, DataInputStream in, DataOutputStream out)
            throws IOException {
        long startNs = System.nanoTime();
        GpuTargets gpu =
                new GpuTargets(
                        GpuMemory.RegistrationMethod.PEER_MEM,
                        GpuWriteVisibility.HOST_FLUSHES,
                        new CopiedRings(GEOMETRY.slotBytes(), done -> {}));
        try (Transport transport = new DisniTransport(address, inGpuMemory ? gpu : null);
                TcpControlServer server =
                        new TcpControlServer(
                                new InetSocketAddress(address, 0), ControlSockets.PLAIN);
                SessionListener listener =
                        new SessionListener(JOB, SECRET, SLOW, SessionListener.Limits.DEFAULT);
                ReaderSession reader = new ReaderSession(0, GEOMETRY, transport, SLOW, startNs)) {
            listener.add(reader);
            out.writeInt(server.address().getPort());
            while (reader.attempt() < 1 || reader.releasedSequence() < CHUNKS) {
                requireTime(startNs, "released=" + reader.releasedSequence());
                server.step(listener, System.nanoTime());
                reader.step(System.nanoTime());
                if (reader.poll() && compare(reader)) {
                    reader.release();
                }
            }
            long releasedNs = System.nanoTime();
            while (in.available() == 0) {
                requireTime(releasedNs, "writer=not drained");
                reader.step(System.nanoTime());
            }
            VerbsCheck.ok(
                    "session%s: %d chunks of a second attempt, from the first on, every byte"
                            + " compared, epochs=%d",
                    inGpuMemory ? " as into a GPU" : "", CHUNKS, reader.epoch());
        }
    }

    /**
     * @return whether there was an intact payload
     */
    private static boolean compare(ReaderSession reader) throws IOException {
        byte[] arrived = new byte[reader.lengthBytes()];
        if (!reader.copyTo(arrived)) {
            return false;
        }
        long sequence = reader.releasedSequence() + 1;
        if (!Arrays.equals(arrived, TransportCheck.payload(reader.attempt(), sequence))) {
            throw new IOException(
                    "bytes differ: attempt=" + reader.attempt() + ", sequence=" + sequence);
        }
        return true;
    }

    static void write(
            InetAddress address, InetAddress peer, DataInputStream in, DataOutputStream out)
            throws IOException {
        InetSocketAddress server = new InetSocketAddress(peer, in.readInt());
        try (Transport transport = new DisniTransport(address);
                WriterSession first = writer(0, server, transport);
                WriterSession second = writer(1, server, transport)) {
            write(first, 0, CHUNKS_OF_FIRST_ATTEMPT);
            write(second, 1, CHUNKS_OF_FIRST_ATTEMPT);
            requireCutOff(first, second);
            write(second, 1, CHUNKS);
            out.writeByte(1);
        }
    }

    private static WriterSession writer(
            int attempt, InetSocketAddress server, Transport transport) {
        return new WriterSession(
                JOB,
                attempt,
                0,
                SECRET.token(JOB, attempt),
                TcpControlLink.dialer(server, ControlSockets.PLAIN),
                transport,
                SLOW,
                System.nanoTime());
    }

    /** Writes until so many payloads are acknowledged. */
    private static void write(WriterSession writer, int attempt, int until) throws IOException {
        long startNs = System.nanoTime();
        long next = writer.acknowledgedSequence() + 1;
        while (writer.acknowledgedSequence() < until) {
            requireTime(startNs, "state=" + writer.state() + ", lastLoss=" + writer.lastLoss());
            if (next <= until) {
                byte[] payload = TransportCheck.payload(attempt, next);
                next += writer.tryWrite(payload, Memory.BYTES, payload.length) ? 1 : 0;
            }
            writer.step(System.nanoTime());
        }
    }

    /** The first attempt continues to write to a revoked ring and is refused permanently. */
    private static void requireCutOff(WriterSession first, WriterSession second)
            throws IOException {
        byte[] payload = TransportCheck.payload(0, CHUNKS_OF_FIRST_ATTEMPT + 1);
        first.tryWrite(payload, Memory.BYTES, payload.length);
        long startNs = System.nanoTime();
        try {
            while (true) {
                requireTime(startNs, "state=" + first.state());
                first.step(System.nanoTime());
                second.step(System.nanoTime());
            }
        } catch (SessionException e) {
            if (first.state() != WriterState.FAILED) {
                throw e;
            }
            VerbsCheck.ok("session: the first attempt is cut off: %s", e.getMessage());
        }
    }

    private static void requireTime(long startNs, String found) throws IOException {
        if (System.nanoTime() - startNs > PATIENCE_NS) {
            throw new IOException("the session did not go on in time: " + found);
        }
    }
}
