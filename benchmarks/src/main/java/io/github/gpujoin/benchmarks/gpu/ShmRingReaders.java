// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.transport.SessionReaders;
import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.slot.CountedSlot;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import io.github.gpujoin.rdma.session.ReaderSession;
import io.github.gpujoin.rdma.session.TakenSlot;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** Threads that submit the facts of rings to an engine each, and count the rows with results. */
final class ShmRingReaders implements AutoCloseable {

    private static final long TIMEOUT_NS = 60_000_000_000L;

    private final SessionReaders sessions;
    private final ShmRingBench.Access access;
    private final boolean recordsLatencies;
    private final List<Reader> readers = new ArrayList<>();
    private final LongAdder rows = new LongAdder();
    private final ConcurrentLinkedQueue<Long> latenciesNs = new ConcurrentLinkedQueue<>();
    private volatile boolean isStopping;
    private volatile @Nullable Exception failure;

    /**
     * Starts the threads.
     *
     * @param sessions closed with this object
     * @param engine of which each thread gets a fork
     * @param recordsLatencies whether to note the time from the sending of each chunk to its
     *     results
     */
    ShmRingReaders(
            SessionReaders sessions,
            GpuJoinEngine engine,
            ShmRingBench.Access access,
            int threads,
            boolean recordsLatencies) {
        this.sessions = sessions;
        this.access = access;
        this.recordsLatencies = recordsLatencies;
        for (int thread = 0; thread < threads; thread++) {
            List<ReaderSession> own = new ArrayList<>();
            for (int ring = thread; ring < sessions.sessions().size(); ring += threads) {
                own.add(sessions.sessions().get(ring));
            }
            readers.add(new Reader(engine.fork(), own, thread == 0));
        }
        readers.forEach(Thread::start);
    }

    /** Returns the count of rows whose results are complete. */
    long rows() {
        return rows.sum();
    }

    void awaitRows(long count) throws Exception {
        long startNs = System.nanoTime();
        while (rows() < count) {
            check();
            if (System.nanoTime() - startNs > TIMEOUT_NS) {
                throw new IllegalStateException("No facts arrived: rows=" + rows());
            }
            Thread.sleep(1);
        }
    }

    void clearLatencies() {
        latenciesNs.clear();
    }

    /** Times from the sending of a chunk to its results. */
    double[] latenciesUs() {
        return latenciesNs.stream().mapToDouble(ns -> ns / 1e3).toArray();
    }

    void check() throws Exception {
        if (failure != null) {
            throw failure;
        }
        sessions.requireSender();
    }

    /** Ends the threads, and returns the count that the engines aggregated. */
    long stopAndCount() throws Exception {
        isStopping = true;
        long count = 0;
        for (Reader reader : readers) {
            reader.join();
            count += reader.counted;
        }
        if (failure != null) {
            throw failure;
        }
        return count;
    }

    @Override
    public void close() throws Exception {
        isStopping = true;
        for (Reader reader : readers) {
            reader.join();
            reader.engine.close();
        }
        sessions.close();
    }

    private final class Reader extends Thread {

        private final GpuJoinEngine engine;
        private final List<ReaderSession> rings;
        private final boolean steps;
        private @Nullable Chunk waiting;
        private long counted;

        Reader(GpuJoinEngine engine, List<ReaderSession> rings, boolean steps) {
            super("ring reader");
            this.engine = engine;
            this.rings = rings;
            this.steps = steps;
        }

        @Override
        public void run() {
            try {
                while (!isStopping) {
                    if (steps) {
                        sessions.step();
                    }
                    for (ReaderSession ring : rings) {
                        ring.step(System.nanoTime());
                        submitNext(ring);
                    }
                    pollAll();
                }
                while (engine.inFlightCount() > 0) {
                    pollAll();
                }
                if (waiting != null) {
                    waiting.release();
                }
                GroupRows groups = engine.drainGroups();
                counted = groups.rowCount() == 0 ? 0 : groups.aggregate(0, 0);
            } catch (IOException | RuntimeException e) {
                failure = e;
            }
        }

        private void submitNext(ReaderSession ring) {
            if (waiting == null && ring.poll()) {
                waiting = access == ShmRingBench.Access.IN_PLACE ? take(ring) : copy(ring);
            }
            if (waiting != null && engine.submitProbe(waiting, 0)) {
                waiting = null;
            }
        }

        private @Nullable Chunk take(ReaderSession ring) {
            TakenSlot taken = ring.take(false);
            return taken == null
                    ? null
                    : Chunk.inSlot(
                            engine.spec().factSchema(), new RingSlot(taken), taken.lengthBytes());
        }

        private @Nullable Chunk copy(ReaderSession ring) {
            byte[] bytes = new byte[ring.lengthBytes()];
            if (!ring.copyTo(bytes)) {
                return null;
            }
            ring.release();
            return ChunkDecoder.decode(engine.spec().factSchema(), bytes);
        }

        private void pollAll() {
            for (ResultBatch batch = engine.poll(); batch != null; batch = engine.poll()) {
                if (batch.isLast()) {
                    Chunk chunk = batch.chunk();
                    if (recordsLatencies) {
                        latenciesNs.add(System.nanoTime() - chunk.sequence());
                    }
                    rows.add(chunk.rowCount());
                    chunk.release();
                }
            }
        }
    }

    /** A slot that the thread of its ring takes and releases. */
    private static final class RingSlot extends CountedSlot {

        private final TakenSlot taken;

        RingSlot(TakenSlot taken) {
            super(taken.region(), taken.address());
            this.taken = taken;
        }

        @Override
        public boolean isVerified() {
            return taken.isVerified();
        }

        @Override
        protected void released() {
            taken.release();
        }
    }
}
