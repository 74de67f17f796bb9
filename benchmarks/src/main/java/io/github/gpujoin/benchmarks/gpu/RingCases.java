// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.SegmentReplay;
import io.github.gpujoin.kernels.gpu.StepOutput;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Measures cases of one ring and one table, and collects their figures. */
final class RingCases {

    private static final long SEED = 1;

    private final GpuRun run;
    private final List<Figure> figures = new ArrayList<>();

    RingCases(GpuRun run) {
        this.run = run;
    }

    List<Figure> figures() {
        return figures;
    }

    /** Builds the table of a workload. */
    SegmentReplay replay(GpuOptions options, RingWorkload workload) {
        run.progress().accept("building " + workload);
        SegmentReplay replay =
                new SegmentReplay(workload.spec(), options, workload.allFactColumns());
        try {
            workload.build(chunk -> replay.submitBuild(0, chunk));
            replay.finishBuild();
            return replay;
        } catch (Throwable e) {
            replay.close();
            throw e;
        }
    }

    /** Draws facts in segments of so many rows. */
    RingMeter.Work work(SegmentReplay replay, RingWorkload workload, int chunkRows) {
        int chunks = new RingMeter(run, replay).chunks(chunkRows, workload.copies());
        RingWorkload.Facts facts = workload.facts(chunks, chunkRows, SEED);
        return new RingMeter.Work(facts.chunks(), facts.expected(), workload::answerOf);
    }

    /** Measures a case under the parameters that all cases have, and further ones. */
    void measure(
            String name,
            Map<String, Object> furtherParameters,
            SegmentReplay replay,
            RingWorkload workload,
            RingMeter.Work work,
            StepOutput output) {
        Map<String, Object> parameters =
                Figure.parameters(
                        "build_rows", workload.buildRows(),
                        "tuple_bytes", workload.tupleBytes(),
                        "chunk_rows", work.chunkRows(),
                        "matches", workload.copies(),
                        "result_bytes", output == StepOutput.COUNT ? 0 : workload.resultRowBytes(),
                        "table_bytes", replay.tableBytes());
        parameters.putAll(furtherParameters);
        figures.add(new RingMeter(run, replay).measure(name, parameters, work, output));
    }
}
