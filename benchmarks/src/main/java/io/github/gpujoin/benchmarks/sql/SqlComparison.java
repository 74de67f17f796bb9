// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.examples.run.JobCluster;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.configuration.Configuration;

/** Lets contenders run the job of a query in rounds, and compares their answers with Flink's. */
public final class SqlComparison {

    private final JobCluster cluster;
    private final Configuration options;
    private final Consumer<String> progress;

    /**
     * @param cluster with as many slots as a job has event logs
     * @param options of all contenders
     * @param progress receives a line for each step
     */
    public SqlComparison(JobCluster cluster, Configuration options, Consumer<String> progress) {
        this.cluster = cluster;
        this.options = options;
        this.progress = progress;
    }

    /**
     * Measures {@link SqlPlanner#FLINK} and others. A contender whose plan is that of another one
     * is skipped, with a line to the progress.
     *
     * @param planners contenders beside {@link SqlPlanner#FLINK}
     * @param rounds rounds that count, at least 1; one more warms up
     * @return a result for each contender that ran, {@link SqlPlanner#FLINK} first
     */
    public List<SqlFigure> run(SqlJob job, Set<SqlPlanner> planners, int rounds) throws Exception {
        SqlContender flink = new SqlContender(job, SqlPlanner.FLINK, cluster, options, null);
        Map<String, String> plans = new LinkedHashMap<>();
        plans.put(flink.plan(), flink.name());
        List<Contender> contenders = new ArrayList<>(List.of(flink));
        for (SqlPlanner planner : planners) {
            if (planner == SqlPlanner.FLINK) {
                continue;
            }
            SqlContender contender = new SqlContender(job, planner, cluster, options, flink);
            String same = plans.putIfAbsent(contender.plan(), contender.name());
            if (same == null) {
                contenders.add(contender);
            } else {
                progress.accept(
                        "skipped: query=%s, contender=%s, reason=the plan is that of %s"
                                .formatted(job.query(), contender.name(), same));
            }
        }
        List<ContenderResult> results =
                new Rounds(contenders, line -> progress.accept(job.query() + " " + line))
                        .run(rounds);
        return results.stream().map(result -> new SqlFigure(job.query(), result)).toList();
    }
}
