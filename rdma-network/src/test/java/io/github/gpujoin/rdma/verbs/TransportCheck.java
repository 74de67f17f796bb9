// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingReader;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.core.ring.SlotState;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.Target;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;
import io.github.gpujoin.rdma.transport.disni.DisniTransport;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.time.Duration;
import java.util.Arrays;

/**
 * The case {@link CheckCase#TRANSPORT}: chunks through a ring over {@link DisniTransport}. Between
 * chunks the receiver revokes the ring, and the writer's connection breaks. The writer sends chunks
 * without acknowledgement again, to a new ring with a new epoch and a new key.
 */
final class TransportCheck {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final RingGeometry GEOMETRY =
            RingGeometry.forPayload(CheckRing.SLOTS, CheckRing.MAX_CHUNK_BYTES + Long.BYTES);
    private static final long SEED = 7_471;
    private static final int CHUNKS = 100;
    private static final int CHUNKS_BEFORE_REVOCATION = 50;

    private TransportCheck() {}

    static void receive(InetAddress address, DataInputStream in, DataOutputStream out)
            throws IOException {
        try (Transport transport = new DisniTransport(address)) {
            byte[] revoked = new byte[0];
            int released = 0;
            for (int epoch = 1; epoch <= 2; epoch++) {
                try (Target target = transport.registerTarget(GEOMETRY.lengthBytes())) {
                    byte[] descriptor = target.descriptor();
                    if (Arrays.equals(descriptor, revoked)) {
                        throw new IOException("a new target has the key of a revoked one");
                    }
                    revoked = descriptor;
                    out.writeInt(descriptor.length);
                    out.write(descriptor);
                    RingReader reader = new RingReader(target.view(), GEOMETRY, epoch, released);
                    released = epoch == 1 ? CHUNKS_BEFORE_REVOCATION : CHUNKS;
                    read(reader, released, out);
                    if (epoch == 2) {
                        // The writer has all acknowledgements: it would report a revoked ring as a
                        // failure.
                        in.readByte();
                    }
                }
                if (epoch == 1) {
                    // The ring is revoked.
                    out.writeByte(1);
                    in.readByte();
                }
            }
            VerbsCheck.ok("transport: %d chunks through two rings, every byte compared", released);
        }
    }

    private static void read(RingReader reader, int until, DataOutputStream out)
            throws IOException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (reader.releasedSequence() < until) {
            byte[] arrived = next(reader);
            if (arrived == null) {
                if (System.nanoTime() > deadlineNs) {
                    throw new IOException(
                            "no slot became ready: released=" + reader.releasedSequence());
                }
                Thread.onSpinWait();
                continue;
            }
            reader.release();
            if (!Arrays.equals(arrived, payload(SEED, reader.releasedSequence()))) {
                throw new IOException("bytes differ: sequence=" + reader.releasedSequence());
            }
            out.writeLong(reader.releasedSequence());
        }
    }

    /** Returns the next payload; null if it is not intact. */
    private static byte[] next(RingReader reader) {
        if (reader.peek() != SlotState.READY) {
            return null;
        }
        byte[] payload = new byte[reader.lengthBytes()];
        return reader.copyTo(payload) ? payload : null;
    }

    static void write(InetAddress address, DataInputStream in, DataOutputStream out)
            throws IOException {
        try (OneSidedTransport transport = new DisniTransport(address);
                RegisteredMemory source = transport.registerSource(GEOMETRY.lengthBytes())) {
            RingWriter image = new RingWriter(null, source.address(), GEOMETRY, 1);
            byte[] descriptor = in.readNBytes(in.readInt());
            try (Connection connection = transport.connect(descriptor, source)) {
                write(image, connection, in, CHUNKS);
                throw new IOException("the ring was not revoked");
            } catch (TransportException e) {
                VerbsCheck.ok(
                        "transport: a revoked ring breaks the connection: %s", e.getMessage());
            }
            while (image.acknowledgedSequence() < CHUNKS_BEFORE_REVOCATION) {
                image.acknowledge(in.readLong());
            }
            in.readByte();
            requireGone(transport, descriptor, source);
            out.writeByte(1);
            byte[] next = in.readNBytes(in.readInt());
            image.moveToEpoch(2);
            try (Connection connection = transport.connect(next, source)) {
                for (long held = image.acknowledgedSequence() + 1;
                        held <= image.writtenSequence();
                        held++) {
                    send(image, connection, held);
                }
                write(image, connection, in, CHUNKS);
            }
            out.writeByte(1);
        }
    }

    /** Writes until all chunks are acknowledged or the connection breaks. */
    private static void write(
            RingWriter image, Connection connection, DataInputStream in, int until)
            throws IOException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (image.acknowledgedSequence() < until) {
            connection.poll();
            while (in.available() >= Long.BYTES) {
                image.acknowledge(in.readLong());
            }
            if (image.writtenSequence() < until && image.credits() > 0) {
                byte[] payload = payload(SEED, image.writtenSequence() + 1);
                image.tryWrite(payload, Memory.BYTES, payload.length);
                send(image, connection, image.writtenSequence());
            }
            if (System.nanoTime() > deadlineNs) {
                throw new IOException("acknowledged=" + image.acknowledgedSequence());
            }
        }
    }

    private static void send(RingWriter image, Connection connection, long sequence)
            throws IOException {
        long slot = GEOMETRY.slotOffset(sequence);
        int bodyBytes = PAYLOAD_OFFSET - EPOCH_OFFSET + image.lengthBytes(sequence);
        put(connection, slot + EPOCH_OFFSET, bodyBytes);
        connection.flush();
        put(connection, slot, Long.BYTES);
    }

    private static void put(Connection connection, long offset, int lengthBytes)
            throws IOException {
        while (!connection.write(offset, offset, lengthBytes)) {
            connection.poll();
        }
    }

    private static void requireGone(
            OneSidedTransport transport, byte[] descriptor, RegisteredMemory source)
            throws IOException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        try (Connection connection = transport.connect(descriptor, source)) {
            while (!connection.isConnected() && System.nanoTime() < deadlineNs) {
                connection.poll();
                Thread.onSpinWait();
            }
            throw new IOException("a revoked ring was connected to: " + connection);
        } catch (TransportException e) {
            VerbsCheck.ok("transport: a revoked ring is gone: %s", e.getMessage());
        }
    }

    /** Returns a chunk, padded to a multiple of 8 bytes. */
    static byte[] payload(long seed, long sequence) {
        byte[] chunk = CheckRing.chunk(seed, sequence);
        return Arrays.copyOf(chunk, (chunk.length + Long.BYTES - 1) & -Long.BYTES);
    }
}
