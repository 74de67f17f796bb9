package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.chunk.ChunkTypeInfo;
import io.github.gpujoin.flink.config.GpuJoinOptions;
import java.util.Locale;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** The star join of this project, in Flink, with its default options. */
public final class StarJoinJobs {

    private static final long POJO_PROBE_ROWS = 10_000_000;

    private StarJoinJobs() {}

    /** From columns to columns. */
    public static FlinkContender columnar(Tuples tuples, int threads) {
        return columnar("ours-flink-columnar", tuples, threads, GpuJoinOptions.Engine.CPU);
    }

    /** From columns to columns, with an engine of choice; fails where another one joins. */
    public static FlinkContender columnar(
            String name, Tuples tuples, int threads, GpuJoinOptions.Engine engine) {
        Configuration settings = new Configuration();
        settings.set(GpuJoinOptions.ENGINE, engine);
        EngineGauges.addTo(settings);
        return new FlinkContender(
                name, tuples, Long.MAX_VALUE, threads, settings, StarJoinJobs::columnar);
    }

    static void columnar(StreamExecutionEnvironment env, FlinkRun run) {
        columnar(env, run, 0);
    }

    /**
     * @param expectedBytes of the build side, by which it is replicated or partitioned
     */
    static void columnar(StreamExecutionEnvironment env, FlinkRun run, long expectedBytes) {
        StarJoin.factChunks(chunks(env, run, TupleSource.Side.PROBE, TupleSchemas.PROBE))
                .select(TupleSchemas.PROBE_PAYLOAD)
                .dimensionChunks(chunks(env, run, TupleSource.Side.BUILD, TupleSchemas.BUILD))
                .on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                .select(TupleSchemas.BUILD_PAYLOAD)
                .expectedBytes(expectedBytes)
                .toChunks()
                .sinkTo(new TallySink<>(run, new ChunkTally()));
    }

    /** From POJOs to POJOs, a part of the probe rows. */
    public static FlinkContender pojo(Tuples tuples, int threads) {
        return new FlinkContender(
                "ours-flink-pojo",
                tuples,
                POJO_PROBE_ROWS,
                threads,
                new Configuration(),
                (env, run) ->
                        StarJoin.facts(PeerJobs.probe(env, run))
                                .select(TupleSchemas.PROBE_PAYLOAD)
                                .dimension(PeerJobs.build(env, run))
                                .on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                .select(TupleSchemas.BUILD_PAYLOAD)
                                .toPojos(JoinedRow.class)
                                .sinkTo(new TallySink<>(run, new JoinedRowTally())));
    }

    private static DataStream<Chunk> chunks(
            StreamExecutionEnvironment env,
            FlinkRun run,
            TupleSource.Side side,
            ChunkSchema schema) {
        return env.fromSource(
                new TupleSource<>(run, side, RecordCutter.chunks()),
                WatermarkStrategy.noWatermarks(),
                side.name().toLowerCase(Locale.ROOT),
                ChunkTypeInfo.of(schema));
    }
}
