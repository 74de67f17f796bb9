// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static io.github.gpujoin.flink.runtime.VersionedScenario.EVENT_TIME;
import static io.github.gpujoin.flink.runtime.VersionedScenario.FACTS;
import static io.github.gpujoin.flink.runtime.VersionedScenario.PRICES;
import static io.github.gpujoin.flink.runtime.VersionedScenario.SPEC;
import static io.github.gpujoin.flink.runtime.VersionedScenario.chunk;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.Aggregate;
import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.List;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Streams of facts and versions that are idle: what goes on, and in which order. */
@ExtendWith(RegionLeakExtension.class)
class VersionedIdlenessTest {

    private static final long INTERVAL_MS = 1_000;

    private static JoinHarness open(JoinSpec spec) throws Exception {
        JoinHarness join = created(spec);
        join.completeBuild();
        return join;
    }

    /** In LOAD, as other dimensions are not complete. */
    private static JoinHarness created(JoinSpec spec) throws Exception {
        StarJoinOperatorFactory<String> operator =
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(
                                spec,
                                EngineSelection.only(new CpuJoinEngineFactory()),
                                INTERVAL_MS,
                                EVENT_TIME,
                                TimesToLive.NONE),
                        context ->
                                spec.isAggregating() ? new GroupTextEmitter() : new TextEmitter());
        JoinHarness join = new JoinHarness(operator, JoinScenario.MAX_PARALLELISM, 1, 0);
        join.initializeEmptyState();
        join.open();
        return join;
    }

    private static JoinSpec counting() {
        Aggregation counts =
                new Aggregation(
                        List.of(JoinColumn.ofFact(0)),
                        List.of(Aggregate.count(), Aggregate.sum(new JoinColumn(0, 1))),
                        Aggregation.DEFAULT_MAX_GROUPS);
        return new JoinSpec(FACTS, SPEC.dimensions(), List.of(), counts);
    }

    private static void version(JoinHarness join, long value, long time) throws Exception {
        join.probe(chunk(PRICES, 0, List.of(new long[] {1, value, time, 0})));
    }

    private static void fact(JoinHarness join, long number, long time) throws Exception {
        join.probe(chunk(FACTS, ChunkDescriptor.FACTS, List.of(new long[] {1, number, time})));
    }

    /** Has groups that wait for their interval emitted too. */
    private static void finishWork(JoinHarness join) throws Exception {
        join.runMails(Integer.MAX_VALUE);
        join.setProcessingTime(join.getProcessingTime() + INTERVAL_MS);
    }

    @ParameterizedTest(name = "aggregates={0}")
    @ValueSource(booleans = {false, true})
    void shouldBecomeIdleBehindAllThatIsDue(boolean aggregates) throws Exception {
        try (JoinHarness join = open(aggregates ? counting() : SPEC)) {
            // A version between every two facts makes each a batch: more work than fits one mail.
            int rows = 20_000;
            for (long i = 0; i < rows; i++) {
                version(join, 1, i);
                fact(join, i, i);
            }
            join.probeWatermark(rows);
            join.probeStatus(WatermarkStatus.IDLE);
            finishWork(join);
            assertThat(join.getOutput()).endsWith(new Watermark(rows), WatermarkStatus.IDLE);
            join.getOutput().clear();

            join.probeStatus(WatermarkStatus.ACTIVE);
            fact(join, 7, rows + 1);
            join.probeWatermark(rows + 2);
            finishWork(join);
            assertThat(join.getOutput())
                    .containsExactly(
                            WatermarkStatus.ACTIVE,
                            new StreamRecord<>(aggregates ? "1|1|1" : "7|1"),
                            new Watermark(rows + 2));
        }
    }

    @Test
    void shouldKeepWatermarksAndIdlenessUntilOtherDimensionsAreComplete() throws Exception {
        try (JoinHarness join = created(SPEC)) {
            version(join, 10, 5);
            fact(join, 7, 6);
            join.probeWatermark(100);
            join.probeStatus(WatermarkStatus.IDLE);
            fact(join, 8, 50);
            finishWork(join);
            assertThat(join.getOutput()).isEmpty();

            join.completeBuild();
            finishWork(join);
            assertThat(join.getOutput())
                    .containsExactly(
                            new StreamRecord<>("7|10"),
                            new StreamRecord<>("8|10"),
                            new Watermark(100),
                            WatermarkStatus.IDLE);
        }
    }

    @Test
    void shouldJoinWhatWaitsWhenBothStreamsHaveEndedWhileIdle() throws Exception {
        try (JoinHarness join = open(SPEC)) {
            version(join, 10, 5);
            fact(join, 7, 6);
            join.probeStatus(WatermarkStatus.IDLE);
            join.endBuild();
            join.endProbe();
            join.finish();
            assertThat(join.getOutput())
                    .containsExactly(
                            WatermarkStatus.IDLE,
                            WatermarkStatus.ACTIVE,
                            new StreamRecord<>("7|10"),
                            Watermark.MAX_WATERMARK);
        }
    }
}
