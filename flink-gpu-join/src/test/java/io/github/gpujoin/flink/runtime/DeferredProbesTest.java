// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.RoomForOne;
import java.util.List;
import java.util.Random;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;

/** Facts whose build rows have no tables. */
@ExtendWith(RegionLeakExtension.class)
class DeferredProbesTest {

    private static final int PARTITION_GROUPS = 16;
    private static final int KEYS = 8_000;

    private static JoinScenario scenario(int facts) {
        JoinScenario scenario = new JoinScenario(true);
        for (int key = 0; key < KEYS; key++) {
            scenario.buildRow(key, 1_000_000 + key);
        }
        Random random = new Random(facts);
        for (int i = 0; i < facts; i++) {
            scenario.fact(random.nextInt(KEYS), i);
        }
        return scenario;
    }

    /** An operator with no room for the tables of most groups. */
    private static JoinHarness loading() throws Exception {
        return loading(new RoomForOne());
    }

    private static JoinHarness loading(RoomForOne room) throws Exception {
        JoinHarness harness =
                new JoinHarness(
                        JoinScenario.operator(
                                EngineSelection.only(room)
                                        .dividing(
                                                new DimensionPartitioning(
                                                        0,
                                                        PARTITION_GROUPS,
                                                        JoinScenario.SPILL_DELAY_MS))),
                        JoinScenario.MAX_PARALLELISM,
                        1,
                        0);
        harness.initializeEmptyState();
        harness.open();
        return harness;
    }

    private static JoinHarness joining(JoinScenario scenario) throws Exception {
        JoinHarness harness = loading();
        for (Chunk chunk : scenario.buildChunks()) {
            harness.build(chunk);
        }
        harness.endBuild();
        return harness;
    }

    @Test
    void shouldWaitForOthersOfTheirPartitionAsLongAsAllowed() throws Exception {
        JoinScenario scenario = scenario(50);
        try (JoinHarness harness = joining(scenario)) {
            harness.setProcessingTime(1);
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.probeWatermark(17);
            harness.runMails(1_000);
            assertThat(harness.results()).hasSizeLessThan(25);
            assertThat(harness.getOutput()).doesNotContain(new Watermark(17));

            harness.setProcessingTime(JoinScenario.SPILL_DELAY_MS + 1);
            harness.runMails(1_000);
            assertThatResultsAre(harness, scenario);
            assertThat(List.copyOf(harness.getOutput())).endsWith((Object) new Watermark(17));
        }
    }

    @Test
    void shouldBeJoinedWhenNoFactsCome() throws Exception {
        JoinScenario scenario = scenario(50);
        try (JoinHarness harness = joining(scenario)) {
            harness.setProcessingTime(1);
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.runMails(1_000);
            int before = harness.results().size();
            harness.setProcessingTime(1 + JoinScenario.SPILL_DELAY_MS / 10);
            harness.setProcessingTime(1 + JoinScenario.SPILL_DELAY_MS / 5);
            harness.runMails(1_000);
            assertThat(harness.results()).hasSizeBetween(before + 1, 49);
        }
    }

    @Test
    void shouldBeJoinedWhenTheyAreManyTimesTheirBuildRows() throws Exception {
        JoinScenario scenario = scenario(12 * KEYS);
        try (JoinHarness harness = joining(scenario)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.runMails(10_000);
            assertThat(harness.results()).hasSizeGreaterThan(4 * KEYS);
            harness.endProbe();
            harness.finish();
            assertThatResultsAre(harness, scenario);
        }
    }

    @Test
    void shouldBeJoinedPartitionByPartitionWhereAllCameBeforeTheBuildRows() throws Exception {
        JoinScenario scenario = scenario(2_000);
        RoomForOne room = new RoomForOne();
        try (JoinHarness harness = loading(room)) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            harness.endProbe();
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            int placed = room.loads();
            harness.runMails(1_000);
            assertThatResultsAre(harness, scenario);
            assertThat(room.loads() - placed).isLessThan(2 * JoinScenario.MAX_PARALLELISM);
        }
    }

    @Test
    void shouldBeJoinedThoughTheyCameBeforeTheBuildRows() throws Exception {
        JoinScenario scenario = scenario(2_000);
        try (JoinHarness harness = loading()) {
            for (Chunk chunk : scenario.factChunks()) {
                harness.probe(chunk);
            }
            for (Chunk chunk : scenario.buildChunks()) {
                harness.build(chunk);
            }
            harness.endBuild();
            harness.runMails(1_000);
            harness.endProbe();
            harness.finish();
            assertThatResultsAre(harness, scenario);
        }
    }

    /** Sorted first: to look up each of many results among the others takes a minute. */
    private static void assertThatResultsAre(JoinHarness harness, JoinScenario scenario) {
        assertThat(harness.results().stream().sorted().toList())
                .isEqualTo(scenario.results().stream().sorted().toList());
    }
}
