// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.flink;

import io.github.gpujoin.benchmarks.join.TextReport;
import io.github.gpujoin.benchmarks.workload.BuildRow;
import io.github.gpujoin.benchmarks.workload.ProbeRow;
import io.github.gpujoin.benchmarks.workload.Tuples;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/**
 * Joins that Flink's users write as functions, from POJOs to POJOs. They are far slower than the
 * others, so they join a part of the probe rows, against the whole build side.
 */
public final class PeerJobs {

    private static final long KEYED_PROBE_ROWS = 2_000_000;

    private PeerJobs() {}

    /** Two streams keyed and connected, {@link KeyedJoinFunction}, state on the heap. */
    public static FlinkContender keyedDataStream(Tuples tuples, int threads) {
        return new FlinkContender(
                TextReport.KEYED,
                tuples,
                KEYED_PROBE_ROWS,
                threads,
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
                (env, run) ->
                        probe(env, run)
                                .connect(build(env, run).broadcast(BroadcastJoinFunction.BUILD))
                                .process(new BroadcastJoinFunction())
                                .sinkTo(new TallySink<>(run, new JoinedRowTally())));
    }

    static DataStream<BuildRow> build(StreamExecutionEnvironment env, FlinkRun run) {
        return build(env, run, WatermarkStrategy.noWatermarks());
    }

    static DataStream<BuildRow> build(
            StreamExecutionEnvironment env, FlinkRun run, WatermarkStrategy<BuildRow> times) {
        return env.fromSource(
                new TupleSource<>(run, TupleSource.Side.BUILD, RecordCutter.rows(BuildRow::new)),
                times,
                "build",
                TypeInformation.of(BuildRow.class));
    }

    static DataStream<ProbeRow> probe(StreamExecutionEnvironment env, FlinkRun run) {
        return probe(env, run, WatermarkStrategy.noWatermarks());
    }

    static DataStream<ProbeRow> probe(
            StreamExecutionEnvironment env, FlinkRun run, WatermarkStrategy<ProbeRow> times) {
        return env.fromSource(
                new TupleSource<>(run, TupleSource.Side.PROBE, RecordCutter.rows(ProbeRow::new)),
                times,
                "probe",
                TypeInformation.of(ProbeRow.class));
    }
}
