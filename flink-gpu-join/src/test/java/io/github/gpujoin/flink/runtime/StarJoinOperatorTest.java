// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.flink.engine.AssignedGpu;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.TestGpus;
import io.github.gpujoin.flink.runtime.expiry.TimesToLive;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

@ExtendWith(RegionLeakExtension.class)
class StarJoinOperatorTest {

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    /** Devices that subtasks were given, in order; not in the lambda, which is serialized. */
    private static final List<Integer> GIVEN = new ArrayList<>();

    private static JoinHarness open(JoinEngineFactory engine) throws Exception {
        JoinHarness harness = harness(engine);
        harness.initializeEmptyState();
        harness.open();
        return harness;
    }

    private static JoinHarness restored(JoinEngineFactory engine, OperatorSubtaskState state)
            throws Exception {
        JoinHarness harness = harness(engine);
        harness.initializeState(state);
        harness.open();
        return harness;
    }

    private static JoinHarness harness(JoinEngineFactory engine) throws Exception {
        return new JoinHarness(JoinScenario.operator(engine), JoinScenario.MAX_PARALLELISM, 1, 0);
    }

    @Test
    void shouldKeepFactsInStateUntilTheBuildSideEnds() throws Exception {
        JoinScenario scenario = JoinScenario.random(1, false);
        try (JoinHarness harness = open(CPU)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            assertThat(harness.results()).isEmpty();
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            harness.runMails(1_000);
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    private static JoinHarness onHostWithTwoGpus(EngineSelection.Preferred preferred)
            throws Exception {
        EngineSelection engines = new EngineSelection(preferred, true, CPU);
        return new JoinHarness(
                JoinScenario.operator(engines),
                JoinHarness.environment(JoinScenario.MAX_PARALLELISM, 1, 0)
                        .setExternalResourceInfoProvider(TestGpus.numbered("0", "1"))
                        .build());
    }

    @Test
    void shouldLeaveItsDeviceToOthersWhenItIsClosed() throws Exception {
        GIVEN.clear();
        for (int round = 0; round < 2; round++) {
            try (JoinHarness first = onHostWithTwoGpus(StarJoinOperatorTest::noteDevice);
                    JoinHarness second = onHostWithTwoGpus(StarJoinOperatorTest::noteDevice)) {
                first.initializeEmptyState();
                second.initializeEmptyState();
            }
        }
        assertThat(GIVEN).containsExactly(0, 1, 0, 1);
    }

    @Test
    void shouldLeaveItsDeviceToOthersWhereItDoesNotOpen() throws Exception {
        GIVEN.clear();
        for (int round = 0; round < 3; round++) {
            try (JoinHarness harness = onHostWithTwoGpus(StarJoinOperatorTest::failOnDevice)) {
                assertThatIllegalStateException()
                        .isThrownBy(harness::initializeEmptyState)
                        .withMessage("told to fail");
            }
        }
        assertThat(GIVEN).containsExactly(0, 0, 0);
    }

    private static JoinEngineFactory noteDevice(AssignedGpu gpu) {
        GIVEN.add(gpu.numberOr(7));
        return CPU;
    }

    private static JoinEngineFactory failOnDevice(AssignedGpu gpu) {
        GIVEN.add(gpu.numberOr(7));
        throw new IllegalStateException("told to fail");
    }

    @Test
    void shouldStartJoiningAtTheLargestWatermarkOfTheBuildSide() throws Exception {
        JoinScenario scenario = JoinScenario.random(2, true);
        try (JoinHarness harness = open(CPU)) {
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.buildWatermark(5);
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.runMails(1_000);
            assertThat(harness.results()).isEmpty();
            harness.completeBuild();
            harness.runMails(1_000);
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldTakeTheEndOfTheBuildSideTwice() throws Exception {
        JoinScenario scenario = JoinScenario.random(3, false);
        try (JoinHarness harness = open(CPU)) {
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.completeBuild();
            harness.endBuild();
            harness.endBuild();
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.endProbe();
            harness.endProbe();
            harness.finish();
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldDrainWhatWaitsWhenItFinishes() throws Exception {
        JoinScenario scenario = JoinScenario.random(4, false);
        try (JoinHarness harness = open(CPU)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.endProbe();
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            harness.finish();
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    @Test
    void shouldFailOnRowsOfACompleteDimension() throws Exception {
        JoinScenario scenario = JoinScenario.random(5, false);
        try (JoinHarness harness = open(CPU)) {
            harness.endBuild();
            assertThatThrownBy(() -> harness.build(scenario.buildChunks().get(0)))
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Late dimension row: dimension=dimension, rows=40");
        }
    }

    @Test
    void shouldNotLetWatermarksOvertakeResults() throws Exception {
        JoinScenario scenario = new JoinScenario(false);
        scenario.buildRow(1, 10).buildRow(1, 11);
        for (int i = 0; i < 200; i++) {
            scenario.fact(1, i);
        }
        List<Chunk> facts = scenario.factChunks();
        ThrottledEngines throttle = new ThrottledEngines(CPU, 0);
        try (JoinHarness harness = open(throttle)) {
            harness.probe(facts.get(0));
            harness.probeWatermark(100);
            harness.probeWatermark(150);
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            harness.probe(facts.get(1));
            harness.probeWatermark(200);
            harness.probeStatus(WatermarkStatus.IDLE);
            harness.runMails(3);
            assertThat(harness.getOutput()).isEmpty();

            throttle.allow(Long.MAX_VALUE);
            harness.runMails(1_000);
            harness.probeStatus(WatermarkStatus.ACTIVE);
            harness.probeWatermark(300);

            List<Object> expected = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                expected.add(new StreamRecord<>(i + "|10"));
                expected.add(new StreamRecord<>(i + "|11"));
            }
            expected.add(new Watermark(150));
            for (int i = 40; i < 80; i++) {
                expected.add(new StreamRecord<>(i + "|10"));
                expected.add(new StreamRecord<>(i + "|11"));
            }
            expected.add(new Watermark(200));
            expected.add(WatermarkStatus.IDLE);
            expected.add(WatermarkStatus.ACTIVE);
            expected.add(new Watermark(300));
            assertThat(new ArrayList<>(harness.getOutput())).isEqualTo(expected);
        }
    }

    /** Flink drops a watermark at the end of an idle stream. */
    @Test
    void shouldEndWithTheLargestWatermarkThoughFactsEndWhileIdle() throws Exception {
        JoinScenario scenario = new JoinScenario(false).buildRow(1, 10).fact(1, 0);
        try (JoinHarness harness = open(CPU)) {
            harness.probeWatermark(100);
            harness.probe(scenario.factChunks().get(0));
            harness.probeStatus(WatermarkStatus.IDLE);
            harness.build(scenario.buildChunks().get(0));
            harness.endProbe();
            harness.endBuild();
            harness.finish();
            assertThat(harness.getOutput())
                    .containsExactly(
                            new Watermark(100),
                            new StreamRecord<>("0|10"),
                            WatermarkStatus.ACTIVE,
                            Watermark.MAX_WATERMARK);
        }
    }

    @Test
    void shouldEmitWhatTheEmitterKeepsBeforeAWatermark() throws Exception {
        JoinScenario scenario = new JoinScenario(false);
        scenario.buildRow(1, 10);
        for (int i = 0; i < 60; i++) {
            scenario.fact(1, i);
        }
        StarJoinOperatorFactory<String> operator =
                new StarJoinOperatorFactory<>(
                        JoinScenario.settings(JoinScenario.spec(), EngineSelection.only(CPU), 0),
                        context -> new KeepingEmitter());
        try (JoinHarness harness = new JoinHarness(operator, JoinScenario.MAX_PARALLELISM, 1, 0)) {
            harness.initializeEmptyState();
            harness.open();
            List<Chunk> facts = scenario.factChunks();
            harness.probe(facts.get(0));
            harness.probeWatermark(100);
            harness.probe(facts.get(1));
            harness.probeWatermark(200);
            harness.build(scenario.buildChunks().get(0));
            harness.endBuild();
            harness.runMails(100);
            List<Object> output = new ArrayList<>(harness.getOutput());
            assertThat(output).hasSize(62);
            assertThat(output.get(40)).isEqualTo(new Watermark(100));
            assertThat(output.get(61)).isEqualTo(new Watermark(200));
        }
    }

    @Test
    void shouldGiveAllMemoryBackWhenItIsCancelledWhileFull() throws Exception {
        JoinScenario scenario = JoinScenario.random(6, false);
        JoinHarness harness = open(new ThrottledEngines(CPU, 0));
        for (Chunk chunk : scenario.buildChunks()) {
            harness.build(chunk);
        }
        harness.endBuild();
        List<Chunk> facts = scenario.factChunks();
        for (int i = 0; i < 8; i++) {
            harness.probe(facts.get(i));
        }
        assertThat(harness.results()).isEmpty();
        assertThat(Region.openCount()).isPositive();
        harness.close();
    }

    @Test
    void shouldJoinFactsThatWereInFlightBeforeThoseThatWaited() throws Exception {
        JoinScenario scenario = new JoinScenario(true).buildRow(7, 70);
        for (int i = 0; i < 7 * 40; i++) {
            scenario.fact(7, i);
        }
        OperatorSubtaskState state;
        try (JoinHarness harness = open(new ThrottledEngines(CPU, 0))) {
            harness.build(scenario.buildChunks().get(0));
            harness.endBuild();
            for (Chunk chunk : scenario.factChunks().subList(0, 7)) {
                harness.probe(chunk);
            }
            state = harness.snapshot(1, 1);
            assertThat(harness.results()).isEmpty();
        }
        try (JoinHarness harness = restored(CPU, state)) {
            harness.endBuild();
            harness.runMails(1_000);
            assertThat(harness.results()).containsExactlyElementsOf(scenario.results());
        }
    }

    @Test
    void shouldRefuseASnapshotOfAnotherJoin() throws Exception {
        OperatorSubtaskState state;
        try (JoinHarness harness = open(CPU)) {
            state = harness.snapshot(1, 1);
        }
        ChunkSchema keyOnly = ChunkSchema.of(Column.of("key", ColumnType.INT64));
        JoinSpec spec =
                new JoinSpec(
                        keyOnly, List.of(new DimensionSpec("other", keyOnly, 0, 0, JoinKind.SEMI)));
        JoinHarness other =
                new JoinHarness(
                        new StarJoinOperatorFactory<>(
                                JoinScenario.settings(spec, EngineSelection.only(CPU), 0),
                                context -> new TextEmitter()),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0);
        assertThatThrownBy(() -> other.initializeState(state))
                .hasStackTraceContaining(
                        "The sides of the join were [facts, dimension] and are [facts, other]");
        other.close();
    }

    @Test
    void shouldRefuseASnapshotInWhichAnotherDimensionIsPartitioned() throws Exception {
        OperatorSubtaskState state;
        try (JoinHarness harness = open(CPU)) {
            state = harness.snapshot(1, 1);
        }
        DimensionExplanation dimension =
                DimensionExplanation.planned(
                        "dimension",
                        "INNER",
                        Distribution.PARTITIONED,
                        ReasonCode.ASKED,
                        ReasonCode.FILTERS,
                        1);
        JoinExplanation plan =
                JoinExplanation.planned(
                        "join", "flink", ReasonCode.NOT_ENABLED, List.of(dimension), 1);
        JoinHarness partitioned =
                new JoinHarness(
                        new StarJoinOperatorFactory<>(
                                JoinScenario.settings(
                                        JoinScenario.spec(),
                                        EngineSelection.only(CPU),
                                        0,
                                        plan,
                                        null,
                                        TimesToLive.NONE),
                                context -> new TextEmitter()),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0);
        assertThatThrownBy(() -> partitioned.initializeState(state))
                .hasStackTraceContaining("Another dimension is partitioned than in the state")
                .hasStackTraceContaining("expected partitionedDimension=0, restored=-1");
        partitioned.close();
    }

    @Test
    void shouldRefuseAnotherMaximumParallelismThanPartitions() throws Exception {
        JoinHarness harness = new JoinHarness(JoinScenario.operator(CPU), 32, 1, 0);
        assertThatThrownBy(harness::initializeEmptyState)
                .hasStackTraceContaining("partitions=16, maxParallelism=32");
        harness.close();
    }
}
