// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.transport.SessionReaders;
import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Facts that another process writes into rings in shared memory, counted on the GPU: read in place
 * by its kernel, or copied by the CPU; at full rate, and one chunk at a time for the latency.
 */
final class ShmRingBench implements GpuBench {

    static final String RATE = "shm-ring-probe";
    static final String LATENCY = "shm-ring-latency";

    private static final int LOG2_BUILD_ROWS = 27;
    private static final int[] CHUNK_ROWS = {RingBench.CHUNK_ROWS, RingBench.LARGE_CHUNK_ROWS};
    private static final int ENGINE_SLOTS = 64;
    private static final int RING_SLOTS = 16;
    private static final int LATENCY_CHUNKS_PER_SECOND = 2_000;
    private static final int AT_FULL_RATE = 0;
    private static final long WARM_UP_NS = 1_000_000_000L;
    private static final long ROUND_NS = 400_000_000L;

    /** What is done with the payload in the ring. */
    enum Access {
        COPIED,
        IN_PLACE
    }

    static RingWorkload workload(int buildRows) {
        return new RingWorkload(16, List.of(ColumnType.INT64), buildRows, 1);
    }

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        List<Figure> figures = new ArrayList<>();
        RingWorkload workload = workload(run.rows(LOG2_BUILD_ROWS));
        JoinSpec rows = workload.spec();
        JoinSpec counted =
                new JoinSpec(
                        rows.factSchema(),
                        rows.dimensions(),
                        List.of(),
                        new Aggregation(List.of(), List.of(Aggregate.count())));
        for (int chunkRows : CHUNK_ROWS) {
            try (GpuJoinEngine engine =
                    new GpuJoinEngine(counted, run.options().withSlots(ENGINE_SLOTS, chunkRows))) {
                workload.build(chunk -> engine.submitBuild(0, chunk));
                engine.finishBuild();
                for (Access access : Access.values()) {
                    figures.add(rate(run, engine, workload, chunkRows, access));
                }
                for (Access access : Access.values()) {
                    figures.add(latency(run, engine, workload, chunkRows, access));
                }
            }
        }
        return figures;
    }

    private static int cores() {
        return Runtime.getRuntime().availableProcessors();
    }

    private static Figure rate(
            GpuRun run, GpuJoinEngine engine, RingWorkload workload, int chunkRows, Access access)
            throws Exception {
        // Copies take a core each; in place, a few threads read the headers of all rings.
        int rings = Math.max(1, access == Access.COPIED ? cores() / 2 : cores() * 3 / 8);
        int threads = Math.max(1, access == Access.COPIED ? cores() / 2 : cores() * 3 / 16);
        try (ShmRingReaders readers =
                open(engine, workload, chunkRows, access, rings, threads, AT_FULL_RATE)) {
            readers.awaitRows(1);
            Thread.sleep(WARM_UP_NS / 1_000_000);
            List<Double> rounds = new ArrayList<>();
            for (int round = 0; round < ROUNDS; round++) {
                long startNs = System.nanoTime();
                long rowsBefore = readers.rows();
                Thread.sleep(ROUND_NS / 1_000_000);
                rounds.add((readers.rows() - rowsBefore) / (double) (System.nanoTime() - startNs));
                readers.check();
            }
            Figure figure =
                    Figure.of(
                            RATE,
                            parameters(workload, chunkRows, access, rings, threads),
                            "Grows/s",
                            rounds);
            long counted = readers.stopAndCount();
            Figure bounded =
                    run.ceilings()
                            .bound(
                                    figure.checked(counted == readers.rows(), counted, null),
                                    run.options().ringMemory(),
                                    workload.tupleBytes(),
                                    0);
            run.progress().accept(bounded.line());
            return bounded;
        }
    }

    private static Figure latency(
            GpuRun run, GpuJoinEngine engine, RingWorkload workload, int chunkRows, Access access)
            throws Exception {
        try (ShmRingReaders readers =
                open(engine, workload, chunkRows, access, 1, 1, LATENCY_CHUNKS_PER_SECOND)) {
            readers.awaitRows(1);
            Thread.sleep(WARM_UP_NS / 1_000_000);
            List<Double> medians = new ArrayList<>();
            double p99 = 0;
            for (int round = 0; round < ROUNDS; round++) {
                readers.clearLatencies();
                Thread.sleep(ROUND_NS / 1_000_000);
                double[] sorted = readers.latenciesUs();
                Arrays.sort(sorted);
                medians.add(sorted[sorted.length / 2]);
                p99 = Math.max(p99, sorted[sorted.length * 99 / 100]);
                readers.check();
            }
            Map<String, Object> parameters = parameters(workload, chunkRows, access, 1, 1);
            parameters.put("p99_us", Math.round(p99));
            long counted = readers.stopAndCount();
            Figure figure =
                    Figure.of(LATENCY, parameters, "us", medians)
                            .checked(counted == readers.rows(), counted, null);
            run.progress().accept(figure.line());
            return figure;
        }
    }

    private static ShmRingReaders open(
            GpuJoinEngine engine,
            RingWorkload workload,
            int chunkRows,
            Access access,
            int rings,
            int threads,
            int perSecond)
            throws Exception {
        int chunkBytes = ChunkDescriptor.HEADER_BYTES + chunkRows * workload.tupleBytes();
        SessionReaders sessions =
                new SessionReaders(
                        rings,
                        RingGeometry.forPayload(RING_SLOTS, chunkBytes),
                        FactSender.class,
                        workload.buildRows(),
                        chunkRows,
                        perSecond);
        return new ShmRingReaders(
                sessions, engine, access, Math.min(threads, rings), perSecond != AT_FULL_RATE);
    }

    private static Map<String, Object> parameters(
            RingWorkload workload, int chunkRows, Access access, int rings, int threads) {
        return Figure.parameters(
                "access", access.name().toLowerCase(Locale.ROOT).replace('_', '-'),
                "build_rows", workload.buildRows(),
                "tuple_bytes", workload.tupleBytes(),
                "chunk_rows", chunkRows,
                "rings", rings,
                "reader_threads", Math.min(threads, rings));
    }
}
