// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.planner.HiddenPlanner;
import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.Tuples;
import org.apache.flink.api.common.BatchShuffleMode;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.TableDescriptor;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Joins of Flink SQL, from POJOs to POJOs. They are far slower than the others, so they join a part
 * of the probe rows, against the whole build side.
 */
public final class SqlPeerJobs {

    private static final long STREAMING_PROBE_ROWS = 1_000_000;
    private static final long REPLACED_PROBE_ROWS = 10_000_000;
    private static final long BATCH_PROBE_ROWS = 10_000_000;

    /** Flink's default in streaming mode. */
    private static final long FLUSH_MS = 100;

    private static final String JOIN =
            "SELECT%s probePayload, buildPayload FROM probe JOIN build%s ON probeKey = buildKey";

    private static final String AS_OF_TIME = " FOR SYSTEM_TIME AS OF probe.atTime";

    private SqlPeerJobs() {}

    /** A regular join in streaming mode, which keeps both sides in state. */
    public static FlinkContender streaming(Tuples tuples, int threads) {
        return new FlinkContender(
                "flink-sql-streaming",
                tuples,
                STREAMING_PROBE_ROWS,
                threads,
                (env, run) -> regular(env, run, JOIN.formatted("", "")));
    }

    /** The same statement with this project's regular join. */
    public static FlinkContender replacedStreaming(Tuples tuples, int threads) {
        return new FlinkContender(
                "ours-sql-streaming",
                tuples,
                REPLACED_PROBE_ROWS,
                threads,
                (env, run) -> {
                    StreamTableEnvironment tables = StreamTableEnvironment.create(env);
                    HiddenPlanner.replaceJoins(tables);
                    regular(tables, env, run, JOIN.formatted("", ""));
                });
    }

    /**
     * A hash join in batch mode, of the kind that is faster for this build side: every subtask gets
     * all of it, and probe rows stay where they are. Exchanges are pipelined, which spares it
     * writing the shuffled probe rows to disk, and flushed in time, so that the clock can be
     * started as for all others.
     */
    public static FlinkContender batch(Tuples tuples, int threads) {
        Configuration settings = new Configuration();
        settings.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        settings.set(ExecutionOptions.BATCH_SHUFFLE_MODE, BatchShuffleMode.ALL_EXCHANGES_PIPELINED);
        settings.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        return new FlinkContender(
                "flink-sql-batch",
                tuples,
                BATCH_PROBE_ROWS,
                threads,
                settings,
                (env, run) -> regular(env, run, JOIN.formatted(" /*+ BROADCAST(build) */", "")));
    }

    /** A temporal join: each probe row sees the version of the build row at its event time. */
    public static FlinkContender temporal(Tuples tuples, int threads) {
        return new FlinkContender(
                "flink-sql-temporal", tuples, STREAMING_PROBE_ROWS, threads, SqlPeerJobs::temporal);
    }

    /** A lookup join at its best, {@link TupleLookup}: all it asks is in the process. */
    public static FlinkContender lookup(Tuples tuples, int threads) {
        return new FlinkContender(
                "flink-sql-lookup", tuples, STREAMING_PROBE_ROWS, threads, SqlPeerJobs::lookup);
    }

    private static void regular(StreamExecutionEnvironment env, FlinkRun run, String query) {
        regular(StreamTableEnvironment.create(env), env, run, query);
    }

    private static void regular(
            StreamTableEnvironment tables,
            StreamExecutionEnvironment env,
            FlinkRun run,
            String query) {
        tables.createTemporaryView("build", PeerJobs.build(env, run));
        tables.createTemporaryView("probe", PeerJobs.probe(env, run));
        tally(tables, query, run);
    }

    private static void temporal(StreamExecutionEnvironment env, FlinkRun run) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.createTemporaryView(
                "build",
                PeerJobs.build(env, run, EventTimes.build()),
                byEventTime("buildKey", "buildPayload").primaryKey("buildKey").build());
        tables.createTemporaryView(
                "probe",
                PeerJobs.probe(env, run, EventTimes.probe()),
                byEventTime("probeKey", "probePayload").build());
        tally(tables, JOIN.formatted("", AS_OF_TIME), run);
    }

    private static Schema.Builder byEventTime(String key, String payload) {
        return Schema.newBuilder()
                .column(key, DataTypes.BIGINT().notNull())
                .column(payload, DataTypes.BIGINT().notNull())
                .columnByMetadata("atTime", DataTypes.TIMESTAMP_LTZ(3), "rowtime")
                .watermark("atTime", "SOURCE_WATERMARK()");
    }

    private static void lookup(StreamExecutionEnvironment env, FlinkRun run) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.createTemporaryTable(
                "build",
                TableDescriptor.forConnector(TupleLookup.CONNECTOR)
                        .schema(
                                Schema.newBuilder()
                                        .column("buildKey", DataTypes.BIGINT().notNull())
                                        .column("buildPayload", DataTypes.BIGINT().notNull())
                                        .build())
                        .option(TupleLookup.RUN, run.id())
                        .build());
        tables.createTemporaryView(
                "probe",
                PeerJobs.probe(env, run),
                Schema.newBuilder()
                        .column("probeKey", DataTypes.BIGINT().notNull())
                        .column("probePayload", DataTypes.BIGINT().notNull())
                        .columnByExpression("atTime", "PROCTIME()")
                        .build());
        tally(tables, JOIN.formatted("", AS_OF_TIME), run);
    }

    private static void tally(StreamTableEnvironment tables, String query, FlinkRun run) {
        DataStream<JoinedRow> results =
                tables.toDataStream(tables.sqlQuery(query), JoinedRow.class);
        results.sinkTo(new TallySink<>(run, new JoinedRowTally()));
        // Batch mode flushes full buffers only, unless told so operator by operator.
        results.getTransformation()
                .getTransitivePredecessors()
                .forEach(step -> step.setBufferTimeout(FLUSH_MS));
    }
}
