// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.RingMemory;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * Facts from pinned rings against one table: by chunk size and results a fact, by width of a fact,
 * and by width of a result; and from rings in device memory, by chunk size.
 */
final class RingBench implements GpuBench {

    static final String NAME = "ring-probe";
    static final String DEVICE_NAME = "device-ring-probe";

    /** Rows of a segment where the chunk size is not what is asked about. */
    static final int CHUNK_ROWS = 8 << 10;

    /** What the engine makes of large chunks. */
    static final int LARGE_CHUNK_ROWS = 16 << 10;

    private static final int LOG2_BUILD_ROWS = 27;
    private static final int TUPLE_BYTES = 16;
    private static final long SEED = 1;
    private static final List<ColumnType> WIDE = List.of(ColumnType.INT64);
    private static final List<ColumnType> RESULT_OF_16 =
            List.of(ColumnType.INT32, ColumnType.INT64);
    private static final List<ColumnType> RESULT_OF_24 =
            List.of(ColumnType.INT32, ColumnType.INT64, ColumnType.INT64);

    private final List<Figure> figures = new ArrayList<>();

    @Override
    public List<Figure> run(GpuRun run) {
        int buildRows = run.rows(LOG2_BUILD_ROWS);
        RingWorkload narrow = new RingWorkload(TUPLE_BYTES, RESULT_OF_16, buildRows, 1);
        measureChunkSizes(run, RingMemory.HOST, narrow);
        measureChunkSizes(run, RingMemory.DEVICE, narrow);
        measureResultWidth(run, new RingWorkload(TUPLE_BYTES, RESULT_OF_24, buildRows, 1));
        for (int copies : new int[] {4, 16}) {
            measureFanOut(run, new RingWorkload(TUPLE_BYTES, RESULT_OF_16, run.rows(24), copies));
        }
        for (int tupleBytes : new int[] {8, 16, 32, 64}) {
            measureTupleWidth(run, new RingWorkload(tupleBytes, WIDE, run.rows(26), 1));
        }
        return figures;
    }

    private void measureChunkSizes(GpuRun run, RingMemory ringMemory, RingWorkload workload) {
        try (SegmentReplay replay = replay(run, ringMemory, workload)) {
            for (int rows = 1 << 10; rows <= 32 << 10; rows *= 2) {
                RingMeter.Work work = work(run, replay, workload, rows);
                measure(run, replay, workload, work, true);
                measure(run, replay, workload, work, false);
            }
        }
    }

    private void measureFanOut(GpuRun run, RingWorkload workload) {
        try (SegmentReplay replay = replay(run, workload)) {
            for (int rows = 1 << 10; rows <= 32 << 10; rows *= 2) {
                measure(run, replay, workload, work(run, replay, workload, rows), false);
            }
        }
    }

    private void measureResultWidth(GpuRun run, RingWorkload workload) {
        try (SegmentReplay replay = replay(run, workload)) {
            measure(run, replay, workload, work(run, replay, workload, CHUNK_ROWS), false);
        }
    }

    private void measureTupleWidth(GpuRun run, RingWorkload workload) {
        try (SegmentReplay replay = replay(run, workload)) {
            RingMeter.Work work = work(run, replay, workload, CHUNK_ROWS);
            measure(run, replay, workload, work, true);
            measure(run, replay, workload, work, false);
        }
    }

    private static SegmentReplay replay(GpuRun run, RingWorkload workload) {
        return replay(run, RingMemory.HOST, workload);
    }

    private static SegmentReplay replay(GpuRun run, RingMemory ringMemory, RingWorkload workload) {
        run.progress().accept("building " + workload);
        SegmentReplay replay =
                new SegmentReplay(
                        workload.spec(),
                        run.options().withRingMemory(ringMemory),
                        workload.allFactColumns());
        try {
            workload.build(chunk -> replay.submitBuild(0, chunk));
            replay.finishBuild();
            return replay;
        } catch (Throwable e) {
            replay.close();
            throw e;
        }
    }

    private static RingMeter.Work work(
            GpuRun run, SegmentReplay replay, RingWorkload workload, int chunkRows) {
        int chunks = new RingMeter(run, replay).chunks(chunkRows, workload.copies());
        RingWorkload.Facts facts = workload.facts(chunks, chunkRows, SEED);
        return new RingMeter.Work(
                facts.chunks(), facts.expected(), workload::answerOf, workload.resultRowBytes());
    }

    private void measure(
            GpuRun run,
            SegmentReplay replay,
            RingWorkload workload,
            RingMeter.Work work,
            boolean countOnly) {
        Map<String, Object> parameters =
                Figure.parameters(
                        "build_rows", workload.buildRows(),
                        "tuple_bytes", workload.tupleBytes(),
                        "chunk_rows", work.chunkRows(),
                        "matches", workload.copies(),
                        "result_bytes", countOnly ? 0 : workload.resultRowBytes(),
                        "table_bytes", replay.tableBytes());
        String name = replay.ringMemory() == RingMemory.DEVICE ? DEVICE_NAME : NAME;
        figures.add(new RingMeter(run, replay).measure(name, parameters, work, countOnly));
    }
}
