// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import io.github.gpujoin.core.region.Region;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.ConnectException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.NoRouteToHostException;
import java.net.Socket;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;

/** The side that writes. */
final class CheckWriter {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);
    private static final int QUEUE_DEPTH = 16;
    private static final int CHUNKS = 200;
    private static final long SEED = 20_240_607;

    private final VerbsDevice device;
    private final InetSocketAddress receiver;

    private CheckWriter(VerbsDevice device, InetSocketAddress receiver) {
        this.device = device;
        this.receiver = receiver;
    }

    static void write(InetAddress address, InetSocketAddress receiver, CheckCase... cases)
            throws IOException {
        try (VerbsDevice device = Verbs.open(address)) {
            for (CheckCase asked : cases) {
                new CheckWriter(device, receiver).run(asked);
            }
        }
    }

    private void run(CheckCase asked) throws IOException {
        try (Socket control = connect()) {
            DataOutputStream out = new DataOutputStream(control.getOutputStream());
            out.writeInt(asked.ordinal());
            DataInputStream in = new DataInputStream(control.getInputStream());
            switch (asked) {
                case STOP -> {}
                case TRANSPORT -> TransportCheck.write(control.getLocalAddress(), in, out);
                case SESSION, GPU_SESSION ->
                        SessionCheck.write(
                                control.getLocalAddress(), receiver.getAddress(), in, out);
                default -> run(asked, in, out);
            }
        }
    }

    /** Retries, because the receiver may not have started yet. */
    private Socket connect() throws IOException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (true) {
            Socket socket = new Socket();
            try {
                socket.connect(receiver, (int) TIMEOUT.toMillis());
                return socket;
            } catch (ConnectException | NoRouteToHostException e) {
                socket.close();
                if (System.nanoTime() > deadlineNs) {
                    throw e;
                }
                LockSupport.parkNanos(100_000_000);
            }
        }
    }

    private void run(CheckCase asked, DataInputStream in, DataOutputStream out) throws IOException {
        InetSocketAddress peer = new InetSocketAddress(receiver.getAddress(), in.readInt());
        Target target = new Target(in.readLong(), in.readInt(), in.readLong());
        try (CheckRing ring = new CheckRing();
                Registration source =
                        device.register(ring.address(), ring.registeredBytes(), RemoteAccess.NONE);
                QueuePair pair = device.connect(peer, QUEUE_DEPTH, TIMEOUT)) {
            switch (asked) {
                case CHUNKS -> writeChunks(ring, source, pair, target, in, out);
                case BEYOND_END ->
                        expectRefused(asked, source, pair, target.atEnd(), target.key(), in, out);
                case WRONG_KEY ->
                        expectRefused(
                                asked, source, pair, target.address(), ~target.key(), in, out);
                case REVOKED -> {
                    in.readByte();
                    expectRefused(asked, source, pair, target.address(), target.key(), in, out);
                }
                case RECEIVER_DIES -> expectLost(pair, target);
                case WRITER_DIES -> dieInChunk(pair, target, out);
                default -> throw new IllegalArgumentException(asked.name());
            }
        }
    }

    /** Memory of the receiver. */
    private record Target(long address, int key, long lengthBytes) {

        /** Address at which a write of two bytes ends one byte beyond the region. */
        long atEnd() {
            return address + lengthBytes - 1;
        }
    }

    private static void writeChunks(
            CheckRing ring,
            Registration source,
            QueuePair pair,
            Target target,
            DataInputStream in,
            DataOutputStream out)
            throws IOException {
        out.writeLong(SEED);
        out.writeLong(CHUNKS);
        long acknowledged = 0;
        for (long sequence = 1; sequence <= CHUNKS; sequence++) {
            byte[] chunk = CheckRing.chunk(SEED, sequence);
            while (sequence - acknowledged > CheckRing.SLOTS) {
                acknowledged = in.readLong();
            }
            while (pair.freeWriteCount() < 2) {
                pair.completedWriteCount();
            }
            ring.put(sequence, chunk);
            long from = ring.slotAddress(sequence);
            long to = target.address() + CheckRing.offset(sequence);
            int offset = CheckRing.CHUNK_OFFSET;
            pair.write(from + offset, source.localKey(), to + offset, target.key(), chunk.length);
            long last = pair.write(from, source.localKey(), to, target.key(), Long.BYTES);
            // The acknowledgement, after which a slot of the source is reused, arrives later still.
            if (sequence == CHUNKS) {
                awaitCompleted(pair, last);
            }
        }
        while (acknowledged < CHUNKS) {
            acknowledged = in.readLong();
        }
    }

    private static void awaitCompleted(QueuePair pair, long write) throws IOException {
        long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
        while (pair.completedWriteCount() < write) {
            if (System.nanoTime() > deadlineNs) {
                throw new IOException("a write did not complete: write=" + write);
            }
            pair.checkPeer();
        }
    }

    private static void expectRefused(
            CheckCase asked,
            Registration source,
            QueuePair pair,
            long address,
            int key,
            DataInputStream in,
            DataOutputStream out)
            throws IOException {
        try {
            awaitCompleted(pair, pair.write(source.address(), source.localKey(), address, key, 2));
            throw new IOException("a write was not refused: case=" + asked);
        } catch (VerbsException e) {
            if (e.failure() != VerbsFailure.REFUSED_ACCESS) {
                throw e;
            }
            out.writeByte(1);
            long changed = in.readLong();
            if (changed != 0 || pair.state() != QueuePairState.FAILED) {
                throw new IOException("a refused write changed bytes: changed=" + changed, e);
            }
            VerbsCheck.ok("%s: refused, nothing written: %s", asked, e.getMessage());
        }
    }

    /** Writes an unfinished chunk to one slot repeatedly until the connection is lost. */
    private void expectLost(QueuePair pair, Target target) throws IOException {
        long startNs = System.nanoTime();
        try (Region chunk = Region.allocateZeroed(CheckRing.MAX_CHUNK_BYTES);
                Registration source =
                        device.register(chunk.address(), chunk.lengthBytes(), RemoteAccess.NONE)) {
            while (true) {
                writeUnfinished(pair, source, target);
                awaitCompleted(pair, pair.completedWriteCount() + 1);
            }
        } catch (VerbsException e) {
            if (e.failure() != VerbsFailure.CONNECTION_LOST) {
                throw e;
            }
            VerbsCheck.ok(
                    "receiver killed within a chunk: noticed after %d ms: %s",
                    (System.nanoTime() - startNs) / 1_000_000, e.getMessage());
        }
    }

    private static void writeUnfinished(QueuePair pair, Registration source, Target target)
            throws IOException {
        pair.write(
                source.address(),
                source.localKey(),
                target.address() + CheckRing.CHUNK_OFFSET,
                target.key(),
                CheckRing.MAX_CHUNK_BYTES);
    }

    private void dieInChunk(QueuePair pair, Target target, DataOutputStream out)
            throws IOException {
        try (Region chunk = Region.allocateZeroed(CheckRing.MAX_CHUNK_BYTES);
                Registration source =
                        device.register(chunk.address(), chunk.lengthBytes(), RemoteAccess.NONE)) {
            out.writeByte(1);
            writeUnfinished(pair, source, target);
            Runtime.getRuntime().halt(0);
        }
    }
}
