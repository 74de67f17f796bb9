// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.engine.RoomForOne;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.util.IOUtils;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Snapshot in every phase, restore with another parallelism, engine or state backend. */
@ExtendWith(RegionLeakExtension.class)
class StarJoinOperatorRescaleTest {

    private static final int MAX_PARALLELISM = JoinScenario.MAX_PARALLELISM;
    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    /** Where the snapshot is taken. */
    enum Phase {
        /** Half of the build side is there; some facts wait. */
        LOAD,
        /** The build side is complete; some facts wait in state, some are in flight. */
        JOIN_BUSY,
        /** All facts so far are joined. */
        JOIN_IDLE
    }

    @ParameterizedTest(name = "from {0} to {1} subtasks, partitioned={2}")
    @CsvSource({
        "1,1,true", "1,2,true", "1,3,true", "1,8,true",
        "2,1,true", "2,2,true", "2,3,true", "2,8,true",
        "3,1,true", "3,2,true", "3,3,true", "3,8,true",
        "8,1,true", "8,2,true", "8,3,true", "8,8,true",
        "1,1,false", "1,2,false", "1,3,false", "1,8,false",
        "2,1,false", "2,2,false", "2,3,false", "2,8,false",
        "3,1,false", "3,2,false", "3,3,false", "3,8,false",
        "8,1,false", "8,2,false", "8,3,false", "8,8,false"
    })
    void shouldLoseAndRepeatNothingWhenRescaled(int from, int to, boolean partitioned)
            throws Exception {
        for (Phase phase : Phase.values()) {
            run(phase, from, to, partitioned, CPU, new HashMapStateBackend());
        }
    }

    @ParameterizedTest(name = "in {0} with RocksDB")
    @EnumSource(Phase.class)
    void shouldLoseAndRepeatNothingOnRocksDb(Phase phase) throws Exception {
        run(phase, 2, 3, true, CPU, new EmbeddedRocksDBStateBackend(true));
        run(phase, 3, 2, false, CPU, new EmbeddedRocksDBStateBackend());
    }

    @ParameterizedTest(name = "in {0} on the reference engine")
    @EnumSource(Phase.class)
    void shouldRestoreWhatAnotherEngineWrote(Phase phase) throws Exception {
        run(phase, 2, 2, true, new ReferenceJoinEngineFactory(), new HashMapStateBackend());
    }

    @NeedsGpu
    @ParameterizedTest(name = "in {0}, from the CPU to a GPU and back")
    @EnumSource(Phase.class)
    void shouldRestoreOnAGpuAndThenOnTheCpuAgain(Phase phase) throws Exception {
        JoinEngineFactory device =
                new GpuJoinEngineFactory(GpuOptions.defaults().withSlots(8, 1024));
        EngineSelection gpu = new EngineSelection(context -> device, true, CPU);
        EngineSelection cpu = EngineSelection.only(CPU);
        DimensionPartitioning division =
                new DimensionPartitioning(0, 16, JoinScenario.SPILL_DELAY_MS);
        for (boolean partitioned : new boolean[] {true, false}) {
            run(phase, 2, 3, partitioned, cpu, gpu, new HashMapStateBackend());
            run(phase, 3, 2, partitioned, gpu, cpu, new HashMapStateBackend());
        }
        EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend(true);
        run(phase, 2, 3, true, cpu.dividing(division), gpu.dividing(division), backend);
        run(phase, 3, 2, true, gpu.dividing(division), cpu.dividing(division), backend);
    }

    @ParameterizedTest(name = "in {0}, between an operator with tables and one without")
    @EnumSource(Phase.class)
    void shouldRestoreWhereOtherUnitsHaveTables(Phase phase) throws Exception {
        JoinEngineFactory whole = CPU;
        JoinEngineFactory one = new RoomForOne();
        EmbeddedRocksDBStateBackend backend = new EmbeddedRocksDBStateBackend(true);
        run(phase, 2, 3, true, dividing(whole, 1), dividing(one, 16), backend);
        run(phase, 3, 2, true, dividing(one, 16), dividing(whole, 0), backend);
        run(phase, 2, 3, true, dividing(one, 2), dividing(one, 16), backend);
    }

    @Test
    void shouldWaitForTheBuildSideOfWhichOnlyOneSubtaskHadAll() throws Exception {
        JoinScenario scenario = JoinScenario.random(5, true);
        EngineSelection cpu = EngineSelection.only(CPU);
        List<Chunk> build = scenario.buildChunks();
        OperatorSubtaskState state;
        List<JoinHarness> before = open(cpu, 2, 2, null, new HashMapStateBackend());
        try {
            build(before, build.subList(0, build.size() - 1), true);
            JoinHarness rest = owner(before, build.get(build.size() - 1));
            before.get(rest == before.get(0) ? 1 : 0).endBuild();
            state =
                    AbstractStreamOperatorTestHarness.repackageState(
                            before.get(0).snapshot(1, 1), before.get(1).snapshot(1, 1));
        } finally {
            IOUtils.closeAll(before);
        }
        List<JoinHarness> after = open(cpu, 1, 2, state, new HashMapStateBackend());
        try (JoinHarness join = after.get(0)) {
            probe(after, scenario.factChunks(), true);
            join.runMails(1_000);
            assertThat(join.results()).isEmpty();
            join.build(build.get(build.size() - 1));
            join.endBuild();
            join.runMails(1_000);
            assertThat(join.results()).containsExactlyInAnyOrderElementsOf(scenario.results());
        }
    }

    private static EngineSelection dividing(JoinEngineFactory host, int groups) {
        return EngineSelection.only(host)
                .dividing(new DimensionPartitioning(0, groups, JoinScenario.SPILL_DELAY_MS));
    }

    private void run(
            Phase phase,
            int from,
            int to,
            boolean partitioned,
            JoinEngineFactory restoreOn,
            StateBackend backend)
            throws Exception {
        ThrottledEngines throttle = new ThrottledEngines(CPU, Long.MAX_VALUE);
        run(
                phase,
                from,
                to,
                partitioned,
                EngineSelection.only(throttle),
                throttle,
                EngineSelection.only(restoreOn),
                backend);
    }

    private void run(
            Phase phase,
            int from,
            int to,
            boolean partitioned,
            EngineSelection engines,
            EngineSelection restoreOn,
            StateBackend backend)
            throws Exception {
        ThrottledEngines throttle = new ThrottledEngines(CPU, Long.MAX_VALUE);
        run(phase, from, to, partitioned, engines, throttle, restoreOn, backend);
    }

    /**
     * @param throttle of the engines before the snapshot
     */
    private void run(
            Phase phase,
            int from,
            int to,
            boolean partitioned,
            EngineSelection engines,
            ThrottledEngines throttle,
            EngineSelection restoreOn,
            StateBackend backend)
            throws Exception {
        JoinScenario scenario = JoinScenario.random(from * 31L + to, partitioned);
        List<Chunk> build = scenario.buildChunks();
        List<Chunk> facts = scenario.factChunks();
        int buildBefore = phase == Phase.LOAD ? build.size() / 2 : build.size();
        int factsBefore = facts.size() / 2;

        List<String> results = new ArrayList<>();
        OperatorSubtaskState state;
        List<JoinHarness> before = open(engines, from, from, null, backend);
        try {
            // Facts that come first wait in state in every phase.
            probe(before, facts.subList(0, factsBefore / 2), partitioned);
            build(before, build.subList(0, buildBefore), partitioned);
            if (phase != Phase.LOAD) {
                throttle.allow(phase == Phase.JOIN_BUSY ? 3 : Long.MAX_VALUE);
                for (JoinHarness harness : before) {
                    harness.endBuild();
                    harness.runMails(20);
                }
            }
            // With the throttle shut these wait in state behind what is in flight.
            before.forEach(harness -> harness.announceCheckpoint(1));
            probe(before, facts.subList(factsBefore / 2, factsBefore), partitioned);
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (JoinHarness harness : before) {
                states.add(harness.snapshot(1, 1));
                results.addAll(harness.results());
            }
            state =
                    AbstractStreamOperatorTestHarness.repackageState(
                            states.toArray(OperatorSubtaskState[]::new));
        } finally {
            IOUtils.closeAll(before);
        }

        List<JoinHarness> after = open(restoreOn, to, from, state, backend);
        try {
            build(after, build.subList(buildBefore, build.size()), partitioned);
            if (phase == Phase.LOAD) {
                for (JoinHarness harness : after) {
                    harness.endBuild();
                }
            }
            probe(after, facts.subList(factsBefore, facts.size()), partitioned);
            for (JoinHarness harness : after) {
                harness.endProbe();
                harness.finish();
                results.addAll(harness.results());
            }
        } finally {
            IOUtils.closeAll(after);
        }
        assertThat(results)
                .as("phase=%s", phase)
                .containsExactlyInAnyOrderElementsOf(scenario.results());
    }

    private static List<JoinHarness> open(
            EngineSelection engines,
            int parallelism,
            int oldParallelism,
            OperatorSubtaskState state,
            StateBackend backend)
            throws Exception {
        List<JoinHarness> harnesses = new ArrayList<>();
        for (int i = 0; i < parallelism; i++) {
            JoinHarness harness =
                    new JoinHarness(
                            JoinScenario.operator(engines), MAX_PARALLELISM, parallelism, i);
            harness.setStateBackend(backend);
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

    private static void build(List<JoinHarness> harnesses, List<Chunk> chunks, boolean partitioned)
            throws Exception {
        for (Chunk chunk : chunks) {
            if (partitioned) {
                owner(harnesses, chunk).build(chunk);
            } else {
                for (JoinHarness harness : harnesses) {
                    harness.build(chunk);
                }
            }
        }
    }

    private static void probe(List<JoinHarness> harnesses, List<Chunk> chunks, boolean partitioned)
            throws Exception {
        int next = 0;
        for (Chunk chunk : chunks) {
            JoinHarness harness =
                    partitioned
                            ? owner(harnesses, chunk)
                            : harnesses.get(next++ % harnesses.size());
            harness.probe(chunk);
        }
    }

    private static JoinHarness owner(List<JoinHarness> harnesses, Chunk chunk) {
        assertThat(chunk.partition()).isNotEqualTo(ChunkDescriptor.UNPARTITIONED);
        return harnesses.get(
                KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                        MAX_PARALLELISM, harnesses.size(), chunk.partition()));
    }
}
