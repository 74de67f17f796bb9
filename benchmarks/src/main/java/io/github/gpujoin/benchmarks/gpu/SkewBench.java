// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GridMode;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Facts of radix partitions whose sizes differ, by the exponent of their keys' Zipf distribution
 * and by how thread blocks are dealt to partitions (Thostrup et al., figure 20). Matches are
 * counted, so that nothing but reading bounds the rate.
 */
final class SkewBench implements GpuBench {

    static final String NAME = "ring-skew";

    private static final double[] EXPONENTS = {0, 0.5, 1, 1.5};
    private static final int PARTITIONS = 64;
    private static final int LOG2_BUILD_ROWS = 24;
    private static final long SEED = 5;

    @Override
    public List<Figure> run(GpuRun run) {
        List<Figure> figures = new ArrayList<>();
        RingWorkload workload =
                new RingWorkload(16, List.of(ColumnType.INT64), run.rows(LOG2_BUILD_ROWS), 1);
        for (GridMode mode : GridMode.values()) {
            measure(run, mode, workload, figures);
        }
        return figures;
    }

    private static void measure(
            GpuRun run, GridMode mode, RingWorkload workload, List<Figure> figures) {
        GpuOptions options = run.options().withGridMode(mode);
        try (SegmentReplay replay =
                new SegmentReplay(workload.spec(), options, workload.allFactColumns())) {
            workload.build(chunk -> replay.submitBuild(0, chunk));
            replay.finishBuild();
            RingMeter meter = new RingMeter(run, replay);
            int rows = RingBench.CHUNK_ROWS;
            for (double zipf : EXPONENTS) {
                RingWorkload.Facts facts =
                        workload.partitionedFacts(
                                meter.chunks(rows, 1), rows, PARTITIONS, zipf, SEED);
                RingMeter.Work work =
                        new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
                Map<String, Object> parameters =
                        Figure.parameters(
                                "build_rows",
                                workload.buildRows(),
                                "partitions",
                                PARTITIONS,
                                "zipf",
                                zipf,
                                "grid",
                                mode.name().toLowerCase(Locale.ROOT));
                figures.add(meter.measure(NAME, parameters, work, StepOutput.COUNT));
            }
        }
    }
}
