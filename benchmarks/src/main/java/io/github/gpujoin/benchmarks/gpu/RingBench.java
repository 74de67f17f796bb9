// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.RingMemory;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
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
    private static final List<ColumnType> WIDE = List.of(ColumnType.INT64);
    private static final List<ColumnType> RESULT_OF_16 =
            List.of(ColumnType.INT32, ColumnType.INT64);
    private static final List<ColumnType> RESULT_OF_24 =
            List.of(ColumnType.INT32, ColumnType.INT64, ColumnType.INT64);

    @Override
    public List<Figure> run(GpuRun run) {
        RingCases cases = new RingCases(run);
        int buildRows = run.rows(LOG2_BUILD_ROWS);
        RingWorkload narrow = new RingWorkload(TUPLE_BYTES, RESULT_OF_16, buildRows, 1);
        measureChunkSizes(run, cases, RingMemory.HOST, narrow);
        measureChunkSizes(run, cases, RingMemory.DEVICE, narrow);
        measureResultWidth(run, cases, new RingWorkload(TUPLE_BYTES, RESULT_OF_24, buildRows, 1));
        for (int copies : new int[] {4, 16}) {
            measureFanOut(
                    run, cases, new RingWorkload(TUPLE_BYTES, RESULT_OF_16, run.rows(24), copies));
        }
        for (int tupleBytes : new int[] {8, 16, 32, 64}) {
            measureTupleWidth(run, cases, new RingWorkload(tupleBytes, WIDE, run.rows(26), 1));
        }
        return cases.figures();
    }

    private static void measureChunkSizes(
            GpuRun run, RingCases cases, RingMemory ringMemory, RingWorkload workload) {
        String name = ringMemory == RingMemory.DEVICE ? DEVICE_NAME : NAME;
        try (SegmentReplay replay =
                cases.replay(run.options().withRingMemory(ringMemory), workload)) {
            for (int rows = 1 << 10; rows <= 32 << 10; rows *= 2) {
                RingMeter.Work work = cases.work(replay, workload, rows);
                cases.measure(name, Map.of(), replay, workload, work, StepOutput.COUNT);
                cases.measure(name, Map.of(), replay, workload, work, StepOutput.PLAIN_RESULTS);
            }
        }
    }

    private static void measureFanOut(GpuRun run, RingCases cases, RingWorkload workload) {
        try (SegmentReplay replay = cases.replay(run.options(), workload)) {
            for (int rows = 1 << 10; rows <= 32 << 10; rows *= 2) {
                RingMeter.Work work = cases.work(replay, workload, rows);
                cases.measure(NAME, Map.of(), replay, workload, work, StepOutput.PLAIN_RESULTS);
            }
        }
    }

    private static void measureResultWidth(GpuRun run, RingCases cases, RingWorkload workload) {
        try (SegmentReplay replay = cases.replay(run.options(), workload)) {
            RingMeter.Work work = cases.work(replay, workload, CHUNK_ROWS);
            cases.measure(NAME, Map.of(), replay, workload, work, StepOutput.PLAIN_RESULTS);
        }
    }

    private static void measureTupleWidth(GpuRun run, RingCases cases, RingWorkload workload) {
        try (SegmentReplay replay = cases.replay(run.options(), workload)) {
            RingMeter.Work work = cases.work(replay, workload, CHUNK_ROWS);
            cases.measure(NAME, Map.of(), replay, workload, work, StepOutput.COUNT);
            cases.measure(NAME, Map.of(), replay, workload, work, StepOutput.PLAIN_RESULTS);
        }
    }
}
