// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.List;
import java.util.Map;

/**
 * Facts with narrow values from pinned rings against one table, plain and encoded: by bits of the
 * key, by width of a plain fact and by rows of a segment.
 */
final class EncodedRingBench implements GpuBench {

    private static final String PLAIN = "plain-ring-probe";
    private static final String ENCODED = "encoded-ring-probe";

    private static final int[] LOG2_BUILD_ROWS = {20, 27};
    private static final int[] TUPLE_BYTES = {8, 16};

    /** The last is that of a segment with 27-bit keys and the bytes of a large plain one. */
    private static final int[] CHUNK_ROWS = {
        RingBench.CHUNK_ROWS, RingBench.LARGE_CHUNK_ROWS, 32 << 10
    };

    private static final List<ColumnType> PAYLOADS = List.of(ColumnType.INT32, ColumnType.INT64);

    @Override
    public List<Figure> run(GpuRun run) {
        RingCases cases = new RingCases(run);
        for (int log2BuildRows : LOG2_BUILD_ROWS) {
            for (int tupleBytes : TUPLE_BYTES) {
                int buildRows = run.rows(log2BuildRows);
                RingWorkload workload =
                        new RingWorkload(
                                tupleBytes, PAYLOADS, buildRows, 1, RingWorkload.Values.NARROW);
                measure(run, cases, workload, PLAIN, false);
                measure(run, cases, workload, ENCODED, true);
            }
        }
        return cases.figures();
    }

    private static void measure(
            GpuRun run, RingCases cases, RingWorkload workload, String name, boolean encodes) {
        Map<String, Object> keyBits =
                Map.of("key_bits", Integer.numberOfTrailingZeros(workload.buildRows()));
        try (SegmentReplay replay =
                cases.replay(run.options().withEncodeSegments(encodes), workload)) {
            for (int rows : CHUNK_ROWS) {
                RingMeter.Work work = cases.work(replay, workload, rows);
                cases.measure(name, keyBits, replay, workload, work, StepOutput.COUNT);
                cases.measure(name, keyBits, replay, workload, work, StepOutput.PLAIN_RESULTS);
            }
        }
    }
}
