// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.testing.FaultyNetwork;
import java.net.InetAddress;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One channel in virtual time under seeded faults. After some time the network recovers, and every
 * payload must arrive exactly once, in order, byte for byte.
 */
final class FaultSchedule implements AutoCloseable {

    private static final UUID JOB = new UUID(1, 2);
    private static final int CHANNEL = 5;
    private static final long MS = TimeUnit.MILLISECONDS.toNanos(1);

    /** Turns with faults, and turns after which every payload must have arrived. */
    private static final int FAULTY_TURNS = 150;

    private static final int MAX_TURNS = 2000;

    private final long seed;
    private final Random random;
    private final JobSecret secret = new JobSecret(new byte[JobSecret.BYTES]);
    private final VirtualLinks links;
    private final FaultyNetwork network;
    private final SessionListener listener;
    private final ReaderSession reader;
    private final List<WriterSession> zombies = new ArrayList<>();

    /** Payloads that are read in place. */
    private final List<Held> held = new ArrayList<>();

    private final int payloadBytes;
    private WriterSession writer;
    private int attempt;
    private int nextToWrite;
    private int nextToRead;
    private int readAttempt = -1;
    private long nowNs;

    /** A payload in its slot, which holds a retained region, and its content when it was taken. */
    private record Held(TakenSlot taken, byte[] content) {}

    FaultSchedule(long seed, FaultyNetwork.Opener opener) throws Exception {
        this.seed = seed;
        this.random = new Random(seed);
        this.links = new VirtualLinks(random, 3 * MS);
        this.network = opener.open(random, seed, () -> nowNs);
        this.payloadBytes = 8 * (1 + random.nextInt(16));
        this.listener =
                new SessionListener(
                        JOB, secret, SessionOptions.DEFAULT, new SessionListener.Limits(8, 1000));
        this.reader =
                new ReaderSession(
                        CHANNEL,
                        RingGeometry.forPayload(1 + random.nextInt(6), payloadBytes),
                        network.transport(),
                        SessionOptions.DEFAULT,
                        nowNs);
        listener.add(reader);
        this.writer = newWriter();
    }

    private WriterSession newWriter() {
        return new WriterSession(
                JOB,
                attempt,
                CHANNEL,
                secret.token(JOB, attempt),
                links::dial,
                network.transport(),
                SessionOptions.DEFAULT,
                nowNs);
    }

    void run() throws Exception {
        for (int turn = 0; !isDone(); turn++) {
            assertThat(turn)
                    .as(
                            "turns until all arrived; read=%d, writer=%s (%s), reader=%s (%s)",
                            nextToRead,
                            writer.state(),
                            writer.lastLoss(),
                            reader.state(),
                            reader.lastLoss())
                    .isLessThan(MAX_TURNS);
            if (turn == FAULTY_TURNS) {
                network.heal();
            }
            nowNs += random.nextLong(10 * MS);
            links.advanceTo(nowNs);
            turn(turn < FAULTY_TURNS);
        }
    }

    private boolean isDone() {
        return readAttempt == attempt && nextToRead == network.payloads() && writer.isDrained();
    }

    private void turn(boolean faulty) throws Exception {
        if (faulty && random.nextInt(100) == 0) {
            links.cutOne(random.nextBoolean());
        }
        if (faulty && random.nextInt(200) == 0) {
            startNextAttempt();
        }
        network.deliver();
        write(writer, attempt);
        writer.step(nowNs);
        zombies.removeIf(this::isOver);
        for (VirtualLinks.End link; (link = links.accept()) != null; ) {
            listener.accept(link, InetAddress.getLoopbackAddress(), nowNs);
        }
        listener.step(nowNs);
        if (random.nextInt(4) > 0) {
            reader.step(nowNs);
            read();
        }
    }

    /** The task restarts while its earlier attempt still runs. */
    private void startNextAttempt() {
        zombies.add(writer);
        attempt++;
        nextToWrite = 0;
        writer = newWriter();
    }

    /** Earlier attempts run until the reader refuses them. */
    private boolean isOver(WriterSession zombie) {
        try {
            byte[] payload = payload(-1, random.nextInt(network.payloads()));
            zombie.tryWrite(payload, Memory.BYTES, payload.length);
            zombie.step(nowNs);
            return false;
        } catch (SessionException e) {
            zombie.close();
            return true;
        }
    }

    private void write(WriterSession to, int by) {
        while (nextToWrite < network.payloads() && random.nextInt(3) > 0) {
            byte[] payload = payload(by, nextToWrite);
            if (!(random.nextBoolean() ? tryWrite(to, payload) : tryWriteParts(to, payload))) {
                return;
            }
            nextToWrite++;
        }
    }

    private static boolean tryWrite(WriterSession to, byte[] payload) {
        return to.tryWrite(payload, Memory.BYTES, payload.length);
    }

    /** Writes each 64 bytes as a part, which needs no gap. */
    private static boolean tryWriteParts(WriterSession to, byte[] payload) {
        List<byte[]> parts = new ArrayList<>();
        for (int start = 0; start < payload.length; start += 64) {
            parts.add(Arrays.copyOfRange(payload, start, Math.min(payload.length, start + 64)));
        }
        return to.tryWrite(parts);
    }

    private void read() {
        if (reader.attempt() != readAttempt) {
            readAttempt = reader.attempt();
            nextToRead = 0;
        }
        while (random.nextInt(4) > 0 && reader.poll()) {
            byte[] found = random.nextBoolean() ? copied() : taken();
            if (found == null) {
                return;
            }
            // An earlier attempt may have written before the reader accepted its successor.
            if (Memory.getLong(found, Memory.BYTES) != -1 || readAttempt == attempt) {
                assertThat(found).isEqualTo(payload(readAttempt, nextToRead));
            }
            nextToRead++;
        }
        while (!held.isEmpty() && random.nextInt(3) == 0) {
            release(held.remove(random.nextInt(held.size())));
        }
    }

    private byte @Nullable [] copied() {
        byte[] found = new byte[reader.lengthBytes()];
        if (!reader.copyTo(found)) {
            return null;
        }
        reader.release();
        return found;
    }

    private byte @Nullable [] taken() {
        TakenSlot taken = reader.take(true);
        if (taken == null) {
            return null;
        }
        taken.region().retain();
        byte[] content = content(taken);
        held.add(new Held(taken, content));
        return content;
    }

    private static byte[] content(TakenSlot taken) {
        byte[] content = new byte[taken.lengthBytes()];
        Memory.copy(null, taken.address(), content, Memory.BYTES, content.length);
        return content;
    }

    /** A late write to a slot in use must be detected; the job would restart. */
    private void release(Held payload) {
        boolean isUnchanged = Arrays.equals(content(payload.taken()), payload.content());
        try {
            payload.taken().release();
            assertThat(isUnchanged).isTrue();
        } catch (IllegalStateException e) {
            assertThat(e).hasMessageContaining("Slot was overwritten while it was read");
        } finally {
            payload.taken().region().release();
        }
    }

    private byte[] payload(int by, int index) {
        Random content = new Random(seed ^ ((long) by << 32 | index));
        byte[] payload = new byte[8 * (1 + content.nextInt(payloadBytes / 8))];
        content.nextBytes(payload);
        Memory.putLong(payload, Memory.BYTES, by);
        return payload;
    }

    long epochs() {
        return reader.epoch();
    }

    int attempts() {
        return attempt + 1;
    }

    @Override
    public void close() {
        held.forEach(this::release);
        zombies.forEach(WriterSession::close);
        writer.close();
        listener.close();
        reader.close();
        network.close();
    }
}
