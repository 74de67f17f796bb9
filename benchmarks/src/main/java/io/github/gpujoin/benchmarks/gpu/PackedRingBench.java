// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.List;
import java.util.Map;

/**
 * Facts of 16 plain bytes from pinned rings against one table, with plain and with packed results:
 * plain facts with a payload that fills its columns, and encoded facts with a narrow payload; by
 * rows of the table, by columns of the payload and by rows of a segment.
 */
final class PackedRingBench implements GpuBench {

    private static final String ENCODED = "encoded-ring-probe";
    private static final String PACKED = "-packed";
    private static final int TUPLE_BYTES = 16;
    private static final int[] LOG2_BUILD_ROWS = {20, 27};

    private static final int[] CHUNK_ROWS = {
        RingBench.CHUNK_ROWS, RingBench.LARGE_CHUNK_ROWS, 32 << 10
    };

    private static final List<ColumnType> TWO_COLUMNS = List.of(ColumnType.INT32, ColumnType.INT64);
    private static final List<ColumnType> ONE_COLUMN = List.of(ColumnType.INT64);

    @Override
    public List<Figure> run(GpuRun run) {
        RingCases cases = new RingCases(run);
        measure(
                run,
                cases,
                workload(run, 27, TWO_COLUMNS, RingWorkload.Values.WIDE),
                RingBench.NAME,
                false);
        for (int log2BuildRows : LOG2_BUILD_ROWS) {
            for (List<ColumnType> payloads : List.of(TWO_COLUMNS, ONE_COLUMN)) {
                measure(
                        run,
                        cases,
                        workload(run, log2BuildRows, payloads, RingWorkload.Values.ALL_NARROW),
                        ENCODED,
                        true);
            }
        }
        return cases.figures();
    }

    private static RingWorkload workload(
            GpuRun run, int log2BuildRows, List<ColumnType> payloads, RingWorkload.Values values) {
        return new RingWorkload(TUPLE_BYTES, payloads, run.rows(log2BuildRows), 1, values);
    }

    private static void measure(
            GpuRun run, RingCases cases, RingWorkload workload, String name, boolean encodes) {
        Map<String, Object> further =
                Map.of(
                        "key_bits",
                        encodes ? Integer.numberOfTrailingZeros(workload.buildRows()) : Long.SIZE,
                        "payload_bits",
                        encodes ? RingWorkload.NARROW_BITS : Long.SIZE);
        try (SegmentReplay replay =
                cases.replay(run.options().withEncodeSegments(encodes), workload)) {
            for (int rows : CHUNK_ROWS) {
                RingMeter.Work work = cases.work(replay, workload, rows);
                cases.measure(name, further, replay, workload, work, StepOutput.PLAIN_RESULTS);
                cases.measure(
                        name + PACKED, further, replay, workload, work, StepOutput.PACKED_RESULTS);
            }
        }
    }
}
