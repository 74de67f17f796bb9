// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Chunks that have rows of all partitions of a subtask, through every phase and a rescale. */
@ExtendWith(RegionLeakExtension.class)
class ManyPartitionsTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;

    private final ThrottledEngines cpu =
            new ThrottledEngines(new CpuJoinEngineFactory(), Long.MAX_VALUE);

    /** Of one table, of a table for all groups, or of several, in which chunks are divided. */
    private EngineSelection engines(int groups) {
        EngineSelection only = EngineSelection.only(groups == 0 ? cpu : new CpuJoinEngineFactory());
        return groups == 0
                ? only
                : only.dividing(new DimensionPartitioning(0, groups, JoinScenario.SPILL_DELAY_MS));
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(ints = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20})
    void shouldLoseAndRepeatNothingWhenRescaled(int seed) throws Exception {
        Random random = new Random(seed);
        JoinScenario scenario = JoinScenario.random(seed, true);
        EngineSelection engines = engines(List.of(0, 1, 8).get(random.nextInt(3)));
        int from = 1 + random.nextInt(4);
        int to = 1 + random.nextInt(4);
        boolean loaded = random.nextBoolean();
        int rows = loaded ? scenario.buildRows() : random.nextInt(scenario.buildRows());
        int first = random.nextInt(scenario.facts());
        int second = first + random.nextInt(scenario.facts() - first);

        List<String> results = new ArrayList<>();
        OperatorSubtaskState state;
        List<JoinHarness> before = open(engines, from, from, null);
        try {
            probe(before, scenario.factChunks(0, first, from));
            build(before, scenario.buildChunks(0, rows, from));
            if (loaded) {
                cpu.allow(random.nextInt(6));
                for (JoinHarness harness : before) {
                    harness.endBuild();
                    harness.runMails(random.nextInt(20));
                }
            }
            // Facts that the engine has no room for go to the state in front of its barrier.
            before.forEach(harness -> harness.announceCheckpoint(1));
            probe(before, scenario.factChunks(first, second, from));
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (JoinHarness harness : before) {
                harness.barrier(1);
                states.add(harness.snapshot(1, 1));
                results.addAll(harness.results());
            }
            state =
                    AbstractStreamOperatorTestHarness.repackageState(
                            states.toArray(OperatorSubtaskState[]::new));
        } finally {
            IOUtils.closeAll(before);
        }
        cpu.allow(Long.MAX_VALUE);
        List<JoinHarness> after = open(engines, to, from, state);
        try {
            build(after, scenario.buildChunks(rows, scenario.buildRows(), to));
            for (JoinHarness harness : after) {
                harness.endBuild();
            }
            probe(after, scenario.factChunks(second, scenario.facts(), to));
            for (JoinHarness harness : after) {
                harness.endProbe();
                harness.finish();
                results.addAll(harness.results());
            }
        } finally {
            IOUtils.closeAll(after);
        }
        assertThat(results).containsExactlyInAnyOrderElementsOf(scenario.results());
    }

    @ParameterizedTest(name = "{0} groups")
    @CsvSource({"0", "1", "8"})
    void shouldAnswerFactsBeforeAWatermarkThatFollowsThem(int groups) throws Exception {
        JoinScenario scenario = JoinScenario.random(4, true);
        try (JoinHarness join = open(engines(groups), 1, 1, null).get(0)) {
            for (Chunk chunk : scenario.factChunks(0, 300, 1)) {
                join.probe(chunk);
            }
            join.probeWatermark(17);
            for (Chunk chunk : scenario.buildChunks(0, scenario.buildRows(), 1)) {
                join.build(chunk);
            }
            assertThat(join.getOutput()).isEmpty();
            join.endBuild();
            for (Chunk chunk : scenario.factChunks(300, scenario.facts(), 1)) {
                join.probe(chunk);
            }
            join.probeWatermark(18);
            join.runMails(10_000);
            List<String> output = join.getOutput().stream().map(Object::toString).toList();
            List<String> marks =
                    output.stream().filter(text -> text.contains("Watermark")).toList();
            assertThat(marks).hasSize(2);
            assertThat(output.get(output.size() - 1)).isEqualTo(marks.get(1));
            long early = scenario.results().stream().filter(ManyPartitionsTest::isEarly).count();
            assertThat(
                            output.subList(0, output.indexOf(marks.get(0))).stream()
                                    .filter(text -> !text.contains("Watermark"))
                                    .count())
                    .isGreaterThanOrEqualTo(early);
            assertThat(join.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    private static boolean isEarly(String result) {
        return Integer.parseInt(result.substring(0, result.indexOf('|'))) < 300;
    }

    @Test
    void shouldSubmitFactsOfManyPartitionsInOnePiece() throws Exception {
        JoinScenario scenario = JoinScenario.random(6, true);
        try (JoinHarness join = open(engines(0), 1, 1, null).get(0)) {
            for (Chunk chunk : scenario.buildChunks(0, scenario.buildRows(), 1)) {
                join.build(chunk);
            }
            join.endBuild();
            cpu.allow(0);
            Chunk facts = scenario.factChunks(0, 40, 1).get(0);
            join.probe(facts);
            assertThat(cpu.submitted()).contains(facts);
            cpu.allow(Long.MAX_VALUE);
            join.runMails(100);
            join.endProbe();
            join.finish();
        }
    }

    private static List<JoinHarness> open(
            EngineSelection engines,
            int parallelism,
            int oldParallelism,
            OperatorSubtaskState state)
            throws Exception {
        List<JoinHarness> harnesses = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            JoinHarness harness =
                    new JoinHarness(
                            JoinScenario.partitionedOperator(engines),
                            MAX_PARALLELISM,
                            parallelism,
                            i);
            harnesses.add(harness);
            if (state == null) {
                harness.initializeEmptyState();
            } else {
                harness.initializeState(
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                state, MAX_PARALLELISM, oldParallelism, parallelism, i));
            }
            harness.open();
        }
        return harnesses;
    }

    private static void build(List<JoinHarness> harnesses, List<Chunk> chunks) throws Exception {
        for (Chunk chunk : chunks) {
            owner(harnesses, chunk).build(chunk);
        }
    }

    private static void probe(List<JoinHarness> harnesses, List<Chunk> chunks) throws Exception {
        for (Chunk chunk : chunks) {
            owner(harnesses, chunk).probe(chunk);
        }
    }

    private static JoinHarness owner(List<JoinHarness> harnesses, Chunk chunk) {
        return harnesses.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, harnesses.size(), chunk.partition()));
    }
}
