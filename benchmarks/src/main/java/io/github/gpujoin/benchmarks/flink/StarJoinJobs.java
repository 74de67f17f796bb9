// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.JoinedRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.RegularJoin;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.function.BiFunction;
import java.util.function.Consumer;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.FlatMapFunction;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.datastream.DataStreamSink;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.Collector;

/** The star join of this project, in Flink, with its default options. */
public final class StarJoinJobs {

    private static final long POJO_PROBE_ROWS = 10_000_000;
    private static final long REGULAR_PROBE_ROWS = 10_000_000;

    private StarJoinJobs() {}

    /** From columns to columns. */
    public static FlinkContender columnar(Tuples tuples, int threads) {
        return columnar("ours-flink-columnar", tuples, threads, GpuJoinOptions.Engine.CPU);
    }

    /** From columns to columns, with an engine of choice; fails where another one joins. */
    public static FlinkContender columnar(
            String name, Tuples tuples, int threads, GpuJoinOptions.Engine engine) {
        return columnar(name, tuples, threads, engine, false);
    }

    /**
     * Defines a job from columns to columns, with Flink's object reuse, as a job that drops or
     * serializes its results may use it.
     *
     * @param encodes whether facts are encoded for the bus of the GPU
     */
    public static FlinkContender columnar(
            String name,
            Tuples tuples,
            int threads,
            GpuJoinOptions.Engine engine,
            boolean encodes) {
        boolean isFast = engine == GpuJoinOptions.Engine.GPU;
        return new FlinkContender(
                name,
                tuples,
                isFast ? Long.MAX_VALUE : tuples.distinctProbeRows(),
                threads,
                columnarSettings(engine, encodes),
                StarJoinJobs::columnar);
    }

    /** What a columnar job makes of its results. */
    public enum Results {
        /** Plain columns. Sinks check every ninth chunk. */
        CHUNKS,
        /** Columns that stay encoded where they are. Sinks check every ninth chunk. */
        ENCODED,
        /**
         * Count of results and sum of the probe payloads for each build payload, emitted before
         * each barrier. A fact crosses the bus whole, and no result row exists.
         */
        GROUPS
    }

    /**
     * Each sink counts all results and adds up those of every ninth chunk. Nine has no divisor in
     * common with the chunks of a repetition, so that each repetition has others checked.
     */
    public static final int CHECK_INTERVAL = 9;

    /** Of checkpoints: each drains the groups of all subtasks while the kernel is stopped. */
    private static final Duration GROUPS_INTERVAL = Duration.ofSeconds(1);

    /**
     * Defines a job from columns on GPUs.
     *
     * @param devices value of {@link GpuJoinOptions#GPU_DEVICES}
     */
    public static FlinkContender onDevices(
            String name, Tuples tuples, int threads, String devices, Results results) {
        Configuration settings = columnarSettings(GpuJoinOptions.Engine.GPU, false);
        settings.set(GpuJoinOptions.GPU_DEVICES, devices);
        FlinkContender contender =
                new FlinkContender(
                        name,
                        tuples,
                        Long.MAX_VALUE,
                        threads,
                        settings,
                        switch (results) {
                            case CHUNKS -> StarJoinJobs::columnar;
                            case ENCODED -> StarJoinJobs::encoded;
                            case GROUPS -> StarJoinJobs::groups;
                        });
        return results == Results.GROUPS ? contender : contender.checkingEvery(CHECK_INTERVAL);
    }

    private static void groups(StreamExecutionEnvironment env, FlinkRun run) {
        env.enableCheckpointing(GROUPS_INTERVAL.toMillis());
        StarJoin.ofChunks(chunks(env, run, TupleSource.Side.PROBE, TupleSchemas.PROBE))
                .dimensionChunks(
                        chunks(env, run, TupleSource.Side.BUILD, TupleSchemas.BUILD),
                        d -> d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY).expectedBytes(0))
                .groupBy(TupleSchemas.BUILD_PAYLOAD)
                .count("rows")
                .sum(TupleSchemas.PROBE_PAYLOAD, "sum")
                .toPartialRows()
                .sinkTo(new TallySink<>(run, new GroupTally()));
    }

    /** Build payload, count of results and sum of their probe payloads. */
    private static final class GroupTally implements Tally<Row> {

        private static final long serialVersionUID = 1L;

        @Override
        public int rows(Row group) {
            return Math.toIntExact(group.<Long>getFieldAs(1));
        }

        @Override
        public long payloads(Row group, int firstRow, int count) {
            return count * group.<Long>getFieldAs(0) + group.<Long>getFieldAs(2);
        }
    }

    private static Configuration columnarSettings(GpuJoinOptions.Engine engine, boolean encodes) {
        Configuration settings = new Configuration();
        settings.set(GpuJoinOptions.ENGINE, engine);
        settings.set(GpuJoinOptions.GPU_ENCODE_FACTS, encodes);
        settings.set(PipelineOptions.OBJECT_REUSE, true);
        EngineGauges.addTo(settings);
        return settings;
    }

    public static void columnar(StreamExecutionEnvironment env, FlinkRun run) {
        columnar(env, run, 0);
    }

    /** From columns to columns that stay encoded, on the GPU. */
    public static FlinkContender encodedResults(String name, Tuples tuples, int threads) {
        return new FlinkContender(
                name,
                tuples,
                Long.MAX_VALUE,
                threads,
                columnarSettings(GpuJoinOptions.Engine.GPU, false),
                StarJoinJobs::encoded);
    }

    private static void encoded(StreamExecutionEnvironment env, FlinkRun run) {
        star(env, run, 0).toEncodedChunks().sinkTo(new TallySink<>(run, new ChunkTally()));
    }

    /**
     * @param expectedBytes of the build side, by which it is replicated or partitioned
     */
    public static void columnar(StreamExecutionEnvironment env, FlinkRun run, long expectedBytes) {
        star(env, run, expectedBytes).toChunks().sinkTo(new TallySink<>(run, new ChunkTally()));
    }

    /** A regular join from columns to columns, which keeps both sides in state. */
    public static FlinkContender regular(Tuples tuples, int threads) {
        return new FlinkContender(
                "ours-flink-regular",
                tuples,
                REGULAR_PROBE_ROWS,
                threads,
                columnarSettings(GpuJoinOptions.Engine.CPU, false),
                (env, run) ->
                        RegularJoin.ofChunks(
                                        chunks(
                                                env,
                                                run,
                                                TupleSource.Side.PROBE,
                                                TupleSchemas.PROBE),
                                        chunks(
                                                env,
                                                run,
                                                TupleSource.Side.BUILD,
                                                TupleSchemas.BUILD))
                                .on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                .select(
                                        List.of(TupleSchemas.PROBE_PAYLOAD),
                                        List.of(TupleSchemas.BUILD_PAYLOAD))
                                .toStream()
                                .sinkTo(new TallySink<>(run, new ChunkTally())));
    }

    private static StarJoin<RowView> star(
            StreamExecutionEnvironment env, FlinkRun run, long expectedBytes) {
        return StarJoin.ofChunks(chunks(env, run, TupleSource.Side.PROBE, TupleSchemas.PROBE))
                .select(TupleSchemas.PROBE_PAYLOAD)
                .dimensionChunks(
                        chunks(env, run, TupleSource.Side.BUILD, TupleSchemas.BUILD),
                        d ->
                                d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                        .select(TupleSchemas.BUILD_PAYLOAD)
                                        .expectedBytes(expectedBytes));
    }

    /**
     * From columns to columns, both sides partitioned by key.
     *
     * @param keyGroups maximum parallelism, which is the number of radix partitions
     */
    public static FlinkContender partitioned(Tuples tuples, int threads, int keyGroups) {
        return new FlinkContender(
                "ours-flink-partitioned-" + keyGroups,
                tuples,
                Long.MAX_VALUE,
                threads,
                (env, run) -> {
                    env.setMaxParallelism(keyGroups);
                    columnar(env, run, Long.MAX_VALUE);
                });
    }

    /**
     * From columns to columns, both sides partitioned by key, with figures of rings.
     *
     * @param settings of cluster and job
     */
    public static FlinkContender partitioned(
            String name, Tuples tuples, int threads, Configuration settings) {
        EngineGauges.addTo(settings);
        RingGauges.addTo(settings);
        return new FlinkContender(
                name,
                tuples,
                Long.MAX_VALUE,
                threads,
                settings,
                (env, run) -> columnar(env, run, Long.MAX_VALUE));
    }

    /**
     * From POJOs to POJOs, both sides partitioned by key, a part of the probe rows.
     *
     * @param keyGroups maximum parallelism, which is the number of radix partitions
     */
    public static FlinkContender partitionedPojo(Tuples tuples, int threads, int keyGroups) {
        return pojos(
                "ours-flink-partitioned-pojo-" + keyGroups,
                tuples,
                threads,
                (env, run) -> {
                    env.setMaxParallelism(keyGroups);
                    return join(
                            PeerJobs.probe(env, run),
                            PeerJobs.build(env, run),
                            Dimension::partitioned);
                });
    }

    /** From columns to what the sinks take, each build row as often as the run says. */
    public static void toSinks(StreamExecutionEnvironment env, FlinkRun run, Sinks to) {
        int fanOut = run.fanOut();
        DataStream<Chunk> build =
                chunks(env, run, TupleSource.Side.BUILD, TupleSchemas.BUILD)
                        .flatMap(new Repeating(fanOut))
                        .returns(ChunkTypeInfo.of(TupleSchemas.BUILD));
        StarJoin<?> join =
                StarJoin.ofChunks(chunks(env, run, TupleSource.Side.PROBE, TupleSchemas.PROBE))
                        .select(TupleSchemas.PROBE_PAYLOAD)
                        .dimensionChunks(
                                build,
                                d ->
                                        d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                                .select(TupleSchemas.BUILD_PAYLOAD)
                                                .expectedBytes(0));
        DataStreamSink<?> sink =
                to.rows()
                        ? join.toPojos(JoinedRow.class)
                                .sinkTo(new TallySink<>(run, new JoinedRowTally()))
                        : join.toChunks().sinkTo(new TallySink<>(run, new ChunkTally()));
        if (to.apart()) {
            sink.disableChaining();
        }
    }

    /** Sends each chunk several times. */
    private static final class Repeating implements FlatMapFunction<Chunk, Chunk> {

        private static final long serialVersionUID = 1L;

        private final int times;

        Repeating(int times) {
            this.times = times;
        }

        @Override
        public void flatMap(Chunk chunk, Collector<Chunk> out) {
            for (int i = 0; i < times; i++) {
                out.collect(chunk);
            }
        }
    }

    /** From POJOs to POJOs, a part of the probe rows. */
    public static FlinkContender pojo(Tuples tuples, int threads) {
        return pojos(
                "ours-flink-pojo",
                tuples,
                threads,
                (env, run) -> join(PeerJobs.probe(env, run), PeerJobs.build(env, run), d -> {}));
    }

    /** The same with a dimension that changes. */
    public static FlinkContender changing(Tuples tuples, int threads) {
        return pojos(
                "ours-flink-changing",
                tuples,
                threads,
                (env, run) ->
                        join(
                                PeerJobs.probe(env, run),
                                PeerJobs.build(env, run),
                                d ->
                                        d.changelog(row -> RowKind.INSERT)
                                                .completeAtWatermark(Long.MAX_VALUE)));
    }

    /** The same, and each fact sees the version at its event time. */
    public static FlinkContender versioned(Tuples tuples, int threads) {
        return pojos(
                "ours-flink-versioned",
                tuples,
                threads,
                (env, run) ->
                        join(
                                PeerJobs.probe(env, run, EventTimes.probe()),
                                PeerJobs.build(env, run, EventTimes.build()),
                                Dimension::versioned));
    }

    private static FlinkContender pojos(
            String name,
            Tuples tuples,
            int threads,
            BiFunction<StreamExecutionEnvironment, FlinkRun, StarJoin<ProbeRow>> join) {
        return new FlinkContender(
                name,
                tuples,
                POJO_PROBE_ROWS,
                threads,
                (env, run) ->
                        join.apply(env, run)
                                .toPojos(JoinedRow.class)
                                .sinkTo(new TallySink<>(run, new JoinedRowTally())));
    }

    private static StarJoin<ProbeRow> join(
            DataStream<ProbeRow> probe,
            DataStream<BuildRow> build,
            Consumer<Dimension<BuildRow>> more) {
        return StarJoin.of(probe)
                .select(TupleSchemas.PROBE_PAYLOAD)
                .dimension(
                        build,
                        d ->
                                more.accept(
                                        d.on(TupleSchemas.PROBE_KEY, TupleSchemas.BUILD_KEY)
                                                .select(TupleSchemas.BUILD_PAYLOAD)));
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
