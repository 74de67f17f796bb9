// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import io.github.gpujoin.benchmarks.ssb.SsbContenders;
import io.github.gpujoin.benchmarks.ssb.SsbData;
import io.github.gpujoin.benchmarks.ssb.SsbFigure;
import io.github.gpujoin.benchmarks.ssb.SsbRun;
import io.github.gpujoin.examples.query.Query;
import io.github.gpujoin.examples.run.JobCluster;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.Configuration;

/**
 * The queries of the star schema benchmark from files, on all cores of this machine: jobs with the
 * GPU and with the CPU engine, beside DuckDB. Rates are those of fact rows, start-up apart.
 */
final class SsbBench implements GpuBench {

    private static final List<String> CONTENDERS = List.of("ours-gpu", "ours-cpu", "duckdb");

    @Override
    public List<Figure> run(GpuRun run) throws Exception {
        int threads = Runtime.getRuntime().availableProcessors();
        SsbData data = run.ssb().get();
        data.make(run.progress());
        List<Figure> figures = new ArrayList<>();
        try (JobCluster cluster = JobCluster.open(threads, new Configuration());
                SsbContenders contenders =
                        new SsbContenders(
                                CONTENDERS, cluster, threads, data.files(), run.progress());
                SsbRun ssb =
                        new SsbRun(
                                contenders, data.files(), data.queries().get(0), run.progress())) {
            for (Query query : data.queries()) {
                for (SsbFigure figure : ssb.run(query, ROUNDS, run.progress())) {
                    figures.add(figure(data, threads, figure));
                }
            }
        }
        return figures;
    }

    private static Figure figure(SsbData data, int threads, SsbFigure figure) {
        Map<String, Object> parameters =
                Figure.parameters(
                        "contender", figure.contender(),
                        "query", figure.query(),
                        "format", data.files().formatName(),
                        "fact_rows", figure.factRows(),
                        "threads", threads,
                        "seconds", "%.4g".formatted(figure.seconds()),
                        "startup_seconds", "%.4g".formatted(figure.startupSeconds()));
        List<Double> rates = figure.rates().stream().map(rate -> rate / 1e6).toList();
        return Figure.of(GpuBenches.SSB, parameters, "Mrows/s", rates)
                .checked(figure.isRight(), figure.factRows(), null);
    }
}
