// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * A star join of one to four dimensions whose facts all have the same bytes: all four keys cross
 * the bus however many are joined.
 */
final class StarBench implements GpuBench {

    static final String NAME = "ring-star-join";

    private static final int LOG2_BUILD_ROWS = 20;
    private static final long SEED = 2;

    @Override
    public List<Figure> run(GpuRun run) {
        List<Figure> figures = new ArrayList<>();
        for (int dimensions = 1; dimensions <= StarWorkload.KEYS; dimensions++) {
            measure(run, new StarWorkload(dimensions, run.rows(LOG2_BUILD_ROWS)), figures);
        }
        return figures;
    }

    private static void measure(GpuRun run, StarWorkload workload, List<Figure> figures) {
        try (SegmentReplay replay =
                new SegmentReplay(workload.spec(), run.options(), workload.allFactColumns())) {
            for (int d = 0; d < workload.dimensions(); d++) {
                int dimension = d;
                workload.build(d, chunk -> replay.submitBuild(dimension, chunk));
            }
            replay.finishBuild();
            RingMeter meter = new RingMeter(run, replay);
            int chunks = meter.chunks(RingBench.CHUNK_ROWS, 1);
            RingWorkload.Facts facts = workload.facts(chunks, RingBench.CHUNK_ROWS, SEED);
            RingMeter.Work work =
                    new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
            for (StepOutput output : List.of(StepOutput.COUNT, StepOutput.PLAIN_RESULTS)) {
                boolean countOnly = output == StepOutput.COUNT;
                Map<String, Object> parameters =
                        Figure.parameters(
                                "build_rows", workload.buildRows(),
                                "dimensions", workload.dimensions(),
                                "result_bytes", countOnly ? 0 : workload.resultRowBytes());
                figures.add(meter.measure(NAME, parameters, work, output));
            }
        }
    }
}
