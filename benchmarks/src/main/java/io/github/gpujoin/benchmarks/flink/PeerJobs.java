package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import io.github.gpujoin.benchmarks.workload.Tuples;
import org.apache.flink.api.common.BatchShuffleMode;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.JobManagerOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;

/**
 * Flink's own joins, from POJOs to POJOs. They are far slower than the others, so they join a part
 * of the probe rows, against the whole build side.
 */
public final class PeerJobs {

    private static final long KEYED_PROBE_ROWS = 2_000_000;
    private static final long STREAMING_SQL_PROBE_ROWS = 1_000_000;
    private static final long BATCH_SQL_PROBE_ROWS = 10_000_000;

    /** Flink's default in streaming mode. */
    private static final long FLUSH_MS = 100;

    private static final String JOIN =
            "SELECT%s probePayload, buildPayload FROM probe JOIN build ON probeKey = buildKey";

    private PeerJobs() {}

    /** Two streams keyed and connected, {@link KeyedJoinFunction}, state on the heap. */
    public static FlinkContender keyedDataStream(Tuples tuples, int threads) {
        return new FlinkContender(
                TextReport.KEYED,
                tuples,
                KEYED_PROBE_ROWS,
                threads,
                new Configuration(),
                (env, run) ->
                        build(env, run)
                                .keyBy(row -> row.buildKey)
                                .connect(probe(env, run).keyBy(row -> row.probeKey))
                                .process(new KeyedJoinFunction())
                                .sinkTo(new TallySink<>(run, new JoinedRowTally())));
    }

    /** The build side in broadcast state, {@link BroadcastJoinFunction}. */
    public static FlinkContender broadcastState(Tuples tuples, int threads) {
        return new FlinkContender(
                "flink-broadcast-state",
                tuples,
                KEYED_PROBE_ROWS,
                threads,
                new Configuration(),
                (env, run) ->
                        probe(env, run)
                                .connect(build(env, run).broadcast(BroadcastJoinFunction.BUILD))
                                .process(new BroadcastJoinFunction())
                                .sinkTo(new TallySink<>(run, new JoinedRowTally())));
    }

    /** A regular join in streaming mode, which keeps both sides in state. */
    public static FlinkContender streamingSql(Tuples tuples, int threads) {
        return new FlinkContender(
                "flink-sql-streaming",
                tuples,
                STREAMING_SQL_PROBE_ROWS,
                threads,
                new Configuration(),
                (env, run) -> sql(env, run, JOIN.formatted("")));
    }

    /**
     * A hash join in batch mode, of the kind that is faster for this build side: every subtask gets
     * all of it, and probe rows stay where they are. Exchanges are pipelined, which spares it
     * writing the shuffled probe rows to disk, and flushed in time, so that the clock can be
     * started as for all others.
     */
    public static FlinkContender batchSql(Tuples tuples, int threads) {
        Configuration settings = new Configuration();
        settings.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        settings.set(ExecutionOptions.BATCH_SHUFFLE_MODE, BatchShuffleMode.ALL_EXCHANGES_PIPELINED);
        settings.set(JobManagerOptions.SCHEDULER, JobManagerOptions.SchedulerType.Default);
        return new FlinkContender(
                "flink-sql-batch",
                tuples,
                BATCH_SQL_PROBE_ROWS,
                threads,
                settings,
                (env, run) -> sql(env, run, JOIN.formatted(" /*+ BROADCAST(build) */")));
    }

    private static void sql(StreamExecutionEnvironment env, FlinkRun run, String query) {
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.createTemporaryView("build", build(env, run));
        tables.createTemporaryView("probe", probe(env, run));
        Table joined = tables.sqlQuery(query);
        DataStream<JoinedRow> results = tables.toDataStream(joined, JoinedRow.class);
        results.sinkTo(new TallySink<>(run, new JoinedRowTally()));
        // Batch mode flushes full buffers only, unless told so operator by operator.
        results.getTransformation()
                .getTransitivePredecessors()
                .forEach(step -> step.setBufferTimeout(FLUSH_MS));
    }

    static DataStream<BuildRow> build(StreamExecutionEnvironment env, FlinkRun run) {
        return env.fromSource(
                new TupleSource<>(run, TupleSource.Side.BUILD, RecordCutter.rows(BuildRow::new)),
                WatermarkStrategy.noWatermarks(),
                "build",
                TypeInformation.of(BuildRow.class));
    }

    static DataStream<ProbeRow> probe(StreamExecutionEnvironment env, FlinkRun run) {
        return env.fromSource(
                new TupleSource<>(run, TupleSource.Side.PROBE, RecordCutter.rows(ProbeRow::new)),
                WatermarkStrategy.noWatermarks(),
                "probe",
                TypeInformation.of(ProbeRow.class));
    }
}
