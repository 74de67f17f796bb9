// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.flink.PeerJobs;
import io.github.gpujoin.benchmarks.flink.StarJoinJobs;
import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.flink.api.options.GpuJoinOptions.Engine;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/**
 * The star join as a Flink job from a columnar source, on all cores of this machine, with the GPU
 * and with the CPU engine, beside Flink's keyed join of two streams.
 */
final class FlinkBench implements GpuBench {

    private static final int LOG2_BUILD_ROWS = 20;
    private static final int LOG2_PROBE_ROWS = 28;
    private static final int TUPLE_BYTES = 16;
    private static final long SEED = 6;

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        int threads = Runtime.getRuntime().availableProcessors();
        int buildRows = run.rows(LOG2_BUILD_ROWS);
        Tuples tuples =
                Tuples.generate(buildRows, run.rows(LOG2_PROBE_ROWS), KeyDomain.SPARSE, SEED);
        List<Contender> contenders =
                List.of(
                        StarJoinJobs.columnar("flink-star-join-gpu", tuples, threads, Engine.GPU),
                        StarJoinJobs.columnar("flink-star-join-cpu", tuples, threads, Engine.CPU),
                        PeerJobs.keyedDataStream(tuples, threads));
        List<Figure> figures = new ArrayList<>();
        for (ContenderResult result : new Rounds(contenders, run.progress()).run(ROUNDS)) {
            Map<String, Object> parameters =
                    Figure.parameters(
                            "build_rows", buildRows,
                            "probe_rows", result.probeRows(),
                            "threads", threads);
            List<Double> rates =
                    result.rounds().stream()
                            .map(Measurement::tuplesPerSecond)
                            .map(rate -> rate / 1e9)
                            .toList();
            Measurement shown = result.shown();
            figures.add(
                    Figure.of(result.name(), parameters, "Gtuples/s", rates)
                            .boundedBy(Ceilings.READ, run.ceilings().readGbPerS() / TUPLE_BYTES)
                            .checked(
                                    result.isCorrect(),
                                    shown.answer().count(),
                                    shown.answer().checksum()));
        }
        return figures;
    }
}
