// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.SocketException;
import java.time.Duration;
import java.util.Arrays;

/** The side that owns the written memory. Serves the cases in turn, each with a new ring. */
final class CheckReceiver {

    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final VerbsDevice device;
    private final ServerSocket control;

    private CheckReceiver(VerbsDevice device, ServerSocket control) {
        this.device = device;
        this.control = control;
    }

    static void serve(InetAddress address, int controlPort) throws IOException {
        try (VerbsDevice device = Verbs.open(address);
                ServerSocket control = new ServerSocket()) {
            control.setReuseAddress(true);
            control.bind(new InetSocketAddress(address, controlPort));
            new CheckReceiver(device, control).serve();
        }
    }

    private void serve() throws IOException {
        while (true) {
            try (Socket socket = control.accept()) {
                socket.setSoTimeout((int) TIMEOUT.toMillis());
                DataInputStream in = new DataInputStream(socket.getInputStream());
                CheckCase asked = CheckCase.values()[in.readInt()];
                if (asked == CheckCase.STOP) {
                    return;
                }
                DataOutputStream out = new DataOutputStream(socket.getOutputStream());
                switch (asked) {
                    case TRANSPORT -> TransportCheck.receive(control.getInetAddress(), in, out);
                    case SESSION, GPU_SESSION ->
                            SessionCheck.receive(
                                    control.getInetAddress(),
                                    asked == CheckCase.GPU_SESSION,
                                    in,
                                    out);
                    default -> run(asked, in, out);
                }
            }
        }
    }

    private void run(CheckCase asked, DataInputStream in, DataOutputStream out) throws IOException {
        try (CheckRing ring = new CheckRing();
                VerbsListener listener = device.listen(0, 1);
                Registration registration =
                        device.register(
                                ring.address(), ring.registeredBytes(), RemoteAccess.WRITE)) {
            out.writeInt(listener.address().getPort());
            out.writeLong(registration.address());
            out.writeInt(registration.remoteKey());
            out.writeLong(registration.lengthBytes());
            try (QueuePair pair = listener.accept(TIMEOUT)) {
                if (pair == null) {
                    throw new IOException("no writer connected");
                }
                switch (asked) {
                    case CHUNKS -> receiveChunks(ring, in, out);
                    case REVOKED -> {
                        registration.close();
                        out.writeByte(1);
                        expectUntouched(ring, in, out);
                    }
                    case RECEIVER_DIES -> dieInChunk(ring);
                    case WRITER_DIES -> expectTornChunk(ring, listener, pair, in);
                    default -> expectUntouched(ring, in, out);
                }
            }
        }
    }

    private static void receiveChunks(CheckRing ring, DataInputStream in, DataOutputStream out)
            throws IOException {
        long seed = in.readLong();
        long chunks = in.readLong();
        long bytes = 0;
        for (long sequence = 1; sequence <= chunks; sequence++) {
            long deadlineNs = System.nanoTime() + TIMEOUT.toNanos();
            while (ring.flag(sequence) != sequence) {
                if (System.nanoTime() > deadlineNs) {
                    throw new IOException("a chunk did not arrive: sequence=" + sequence);
                }
                Thread.onSpinWait();
            }
            byte[] expected = CheckRing.chunk(seed, sequence);
            byte[] arrived = ring.bytes(sequence, expected.length);
            if (!Arrays.equals(arrived, expected)) {
                throw new IOException("bytes of a chunk differ: sequence=" + sequence);
            }
            CheckRing.wrap(arrived);
            bytes += arrived.length;
            out.writeLong(sequence);
        }
        VerbsCheck.ok("%d chunks arrived, %d bytes, every byte compared", chunks, bytes);
    }

    /** The writer reports that its device was rejected; the ring must be unchanged then. */
    private static void expectUntouched(CheckRing ring, DataInputStream in, DataOutputStream out)
            throws IOException {
        in.readByte();
        out.writeLong(ring.changedBytes());
    }

    private static void dieInChunk(CheckRing ring) {
        while (ring.bytes(0, 1)[0] == CheckRing.EMPTY) {
            Thread.onSpinWait();
        }
        Runtime.getRuntime().halt(0);
    }

    private static void expectTornChunk(
            CheckRing ring, VerbsListener listener, QueuePair pair, DataInputStream in)
            throws IOException {
        in.readByte();
        long startNs = System.nanoTime();
        try {
            in.readByte();
            throw new IOException("the writer did not die");
        } catch (EOFException | SocketException e) {
            long controlNs = System.nanoTime() - startNs;
            while (pair.state() == QueuePairState.CONNECTED) {
                if (listener.accept(Duration.ofMillis(100)) != null
                        || System.nanoTime() - startNs > TIMEOUT.toNanos()) {
                    throw new IOException("the queue pair did not notice the writer's death", e);
                }
            }
            if (ring.flag(0) != 0) {
                throw new IOException("a torn chunk has its flag");
            }
            VerbsCheck.ok(
                    "writer killed within a chunk: control socket noticed after %d ms, queue pair"
                            + " after %d ms, no flag",
                    controlNs / 1_000_000, (System.nanoTime() - startNs) / 1_000_000);
        }
    }
}
