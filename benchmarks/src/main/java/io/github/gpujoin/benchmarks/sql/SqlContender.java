// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.Measurement;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import io.github.gpujoin.examples.run.JobCluster;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.TablePipeline;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.jspecify.annotations.Nullable;

/**
 * Runs the job of a query with the settings of one planner, as often as asked. Its expected answer
 * is the first one of {@link SqlPlanner#FLINK}.
 */
final class SqlContender implements Contender {

    /** Detail of each round: processor time of the process, nanoseconds. */
    static final String CPU_NS = "cpu_ns";

    private static final long JOB_TIMEOUT_S = 1800;

    private final SqlJob job;
    private final SqlPlanner planner;
    private final JobCluster cluster;
    private final Configuration options;
    private final @Nullable SqlContender reference;
    private @Nullable JoinAnswer firstAnswer;

    /**
     * @param options of all contenders
     * @param reference the contender whose first answer is the expected one, and which runs before;
     *     null if it is this one
     */
    SqlContender(
            SqlJob job,
            SqlPlanner planner,
            JobCluster cluster,
            Configuration options,
            @Nullable SqlContender reference) {
        this.job = job;
        this.planner = planner;
        this.cluster = cluster;
        this.options = new Configuration(options);
        this.options.set(PipelineOptions.OBJECT_REUSE, true);
        this.options.addAll(planner.options());
        this.reference = reference;
    }

    @Override
    public String name() {
        return planner.label();
    }

    /** Returns the plan, without names that differ between runs. */
    String plan() throws Exception {
        try (SqlRun run = new SqlRun(job.logs())) {
            return query(run).explain().replaceAll("'?run'? *= *'?[0-9]+'?", "run");
        }
    }

    @Override
    public Measurement run() throws Exception {
        try (SqlRun run = new SqlRun(job.logs())) {
            await(insert(query(run), run).execute().getJobClient().orElseThrow());
            if (firstAnswer == null) {
                firstAnswer = run.answer();
            }
            return new Measurement(
                    job.events(),
                    run.elapsedNs(),
                    run.answer(),
                    reference == null ? firstAnswer : reference.firstAnswer,
                    Map.of(CPU_NS, run.cpuNs(), "result_rows", run.answer().count()));
        }
    }

    /** Returns the query over the tables of a run. */
    Table query(SqlRun run) throws Exception {
        StreamTableEnvironment tables = StreamTableEnvironment.create(cluster.env(options));
        planner.prepare(tables);
        job.tables().create(tables, run.id());
        return tables.sqlQuery(job.sql());
    }

    private static TablePipeline insert(Table query, SqlRun run) {
        return query.insertInto(
                TableDescriptor.forConnector(AnswerTable.CONNECTOR)
                        .schema(
                                Schema.newBuilder()
                                        .fromRowDataType(
                                                query.getResolvedSchema().toPhysicalRowDataType())
                                        .build())
                        .option(AnswerTable.RUN, run.id())
                        .build());
    }

    private void await(JobClient client) throws Exception {
        try {
            client.getJobExecutionResult().get(JOB_TIMEOUT_S, TimeUnit.SECONDS);
        } catch (TimeoutException e) {
            client.cancel();
            throw new IllegalStateException(
                    "The job did not finish in time: query=%s, contender=%s, seconds=%d"
                            .formatted(job.query(), name(), JOB_TIMEOUT_S),
                    e);
        }
    }
}
