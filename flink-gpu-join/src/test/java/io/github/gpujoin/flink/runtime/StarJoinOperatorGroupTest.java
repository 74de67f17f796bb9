// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Groups: emitted before barriers and watermarks, and nowhere else without need. */
@ExtendWith(RegionLeakExtension.class)
class StarJoinOperatorGroupTest {

    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();
    private static final long INTERVAL_MS = 1_000;
    private static final long START_MS = 50_000;

    private static JoinHarness harness(JoinEngineFactory engine, int maxGroups) throws Exception {
        JoinHarness harness =
                new JoinHarness(
                        JoinScenario.groupingOperator(engine, maxGroups, INTERVAL_MS),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0);
        harness.setProcessingTime(START_MS);
        return harness;
    }

    private static JoinHarness loaded(JoinScenario scenario, int maxGroups) throws Exception {
        JoinHarness harness = harness(CPU, maxGroups);
        harness.initializeEmptyState();
        harness.open();
        for (Chunk chunk : scenario.buildChunks()) {
            harness.build(chunk);
        }
        harness.endBuild();
        return harness;
    }

    @Test
    void shouldEmitEachGroupOnceAtTheEnd() throws Exception {
        JoinScenario scenario = JoinScenario.random(1, false);
        try (JoinHarness harness = loaded(scenario, Aggregation.DEFAULT_MAX_GROUPS)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.runMails(1_000);
            assertThat(harness.results()).isEmpty();
            harness.probeWatermark(Long.MAX_VALUE);
            harness.endProbe();
            harness.finish();
            assertThat(harness.results()).containsExactlyInAnyOrderElementsOf(scenario.groups());
            assertThat(harness.getOutput()).last().isEqualTo(Watermark.MAX_WATERMARK);
        }
    }

    @ParameterizedTest(name = "restored by {0}")
    @ValueSource(strings = {"cpu", "reference"})
    void shouldEmitGroupsBeforeABarrierAndCountEveryFactOnceOverAFailure(String restoredBy)
            throws Exception {
        JoinScenario scenario = JoinScenario.random(2, false);
        List<Chunk> facts = scenario.factChunks();
        int half = facts.size() / 2;
        List<String> parts = new ArrayList<>();
        OperatorSubtaskState state;
        try (JoinHarness harness = loaded(scenario, Aggregation.DEFAULT_MAX_GROUPS)) {
            for (Chunk chunk : facts.subList(0, half)) {
                harness.probe(chunk);
            }
            harness.barrier(1);
            parts.addAll(harness.results());
            assertThat(parts).isNotEmpty();
            state = harness.snapshot(1, 1);
            assertThat(harness.results()).hasSameSizeAs(parts);
            for (Chunk chunk : facts.subList(half, facts.size())) {
                harness.probe(chunk);
            }
        }
        JoinEngineFactory engine =
                restoredBy.equals("cpu") ? CPU : new ReferenceJoinEngineFactory();
        try (JoinHarness harness = harness(engine, Aggregation.DEFAULT_MAX_GROUPS)) {
            harness.initializeState(state);
            harness.open();
            harness.endBuild();
            for (Chunk chunk : facts.subList(half, facts.size())) {
                harness.probe(chunk);
            }
            harness.finish();
            parts.addAll(harness.results());
        }
        assertThat(JoinScenario.addUp(parts)).isEqualTo(scenario.groups());
    }

    @Test
    void shouldHoldWatermarksForTheIntervalAndEmitGroupsBeforeThem() throws Exception {
        JoinScenario scenario = JoinScenario.random(3, false);
        List<Chunk> facts = scenario.factChunks();
        try (JoinHarness harness = loaded(scenario, Aggregation.DEFAULT_MAX_GROUPS)) {
            harness.probe(facts.get(0));
            harness.probeWatermark(10);
            harness.setProcessingTime(START_MS + 1);
            int first = harness.results().size();
            assertThat(first).isPositive();
            assertThat(harness.getOutput()).last().isEqualTo(new Watermark(10));

            harness.probe(facts.get(1));
            harness.probeWatermark(20);
            harness.probeWatermark(30);
            harness.setProcessingTime(START_MS + INTERVAL_MS - 1);
            assertThat(harness.getOutput()).last().isEqualTo(new Watermark(10));
            harness.setProcessingTime(START_MS + 1 + INTERVAL_MS);
            assertThat(harness.results()).hasSizeGreaterThan(first);
            assertThat(harness.getOutput()).doesNotContain(new Watermark(20));
            assertThat(harness.getOutput()).last().isEqualTo(new Watermark(30));

            harness.probe(facts.get(2));
            harness.probeWatermark(40);
            harness.barrier(1);
            assertThat(harness.getOutput()).last().isEqualTo(new Watermark(40));
        }
    }

    @Test
    void shouldPassWatermarksOnWhileDimensionsAreLoaded() throws Exception {
        try (JoinHarness harness = harness(CPU, 10)) {
            harness.initializeEmptyState();
            harness.open();
            harness.probeWatermark(10);
            harness.barrier(1);
            assertThat(harness.getOutput()).containsExactly(new Watermark(10));
        }
    }

    @ParameterizedTest(name = "maxGroups={0}")
    @ValueSource(ints = {1, 20})
    void shouldEmitGroupsWhereTheEngineHasRoomForNoMore(int maxGroups) throws Exception {
        JoinScenario scenario = JoinScenario.random(4, false);
        try (JoinHarness harness = loaded(scenario, maxGroups)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            assertThat(harness.results()).as("without a barrier").isNotEmpty();
            harness.finish();
            assertThat(JoinScenario.addUp(harness.results())).isEqualTo(scenario.groups());
        }
    }
}
