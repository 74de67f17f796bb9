// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.rdma.session.ReaderSession;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Sessions from {@link SessionSender} in a process of its own to this one. */
public final class SessionStream implements Stream {

    private static final int RING_BYTES = 8 << 20;
    private static final int MIN_SLOTS = 8;
    private static final int MAX_SLOTS = 64;

    private final Shipment shipment;
    private final Arrivals arrivals = new Arrivals();
    private final SessionReaders readers;
    private final List<Thread> threads = new ArrayList<>();
    private volatile @Nullable Exception failure;
    private volatile boolean closed;

    public SessionStream(Shipment shipment) throws IOException {
        this.shipment = shipment;
        int slots = Math.max(MIN_SLOTS, Math.min(MAX_SLOTS, RING_BYTES / shipment.chunkBytes()));
        RingGeometry ring = RingGeometry.forPayload(slots, shipment.chunkBytes());
        readers =
                new SessionReaders(
                        shipment.channels(),
                        ring,
                        SessionSender.class,
                        shipment.chunkBytes(),
                        shipment.perSecond());
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

    private void receive(int index, int step) {
        byte[] chunk = new byte[shipment.chunkBytes()];
        List<ReaderSession> sessions = readers.sessions();
        Idle idle = new Idle();
        try {
            while (!closed) {
                if (index == 0) {
                    readers.step();
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
        return Stream.super.cpuNs() + readers.senderCpuNs();
    }

    @Override
    public void check() throws Exception {
        if (failure != null) {
            throw failure;
        }
        readers.requireSender();
    }

    @Override
    public void close() throws Exception {
        closed = true;
        for (Thread thread : threads) {
            thread.join();
        }
        readers.close();
    }
}
