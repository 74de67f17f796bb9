// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.engine.EngineSelection;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.checkpoint.SavepointType;
import org.apache.flink.runtime.state.StateBackend;

/**
 * A join of one subtask, up to a canonical savepoint halfway and on from there. Chunks and results
 * depend on the seed alone, so that a savepoint of an earlier release can be gone on from.
 */
final class SavedScenario {

    /** Where the savepoint is taken. */
    enum Moment {
        /** Half of the build side is there; facts wait. */
        LOAD,
        /** The build side is complete; some facts wait, some are in flight and half emitted. */
        JOIN
    }

    /** A savepoint and what was emitted before it. */
    record Saved(OperatorSubtaskState state, List<String> results) {}

    private static final long SEED = 20_261_121;
    private static final JoinEngineFactory CPU = new CpuJoinEngineFactory();

    private final Moment moment;
    private final JoinScenario scenario;
    private final List<Chunk> build;
    private final List<Chunk> facts;
    private final int buildBefore;
    private final int factsBefore;

    SavedScenario(Moment moment, boolean partitioned) {
        this.moment = moment;
        this.scenario = JoinScenario.random(SEED, partitioned);
        this.build = scenario.buildChunks();
        this.facts = scenario.factChunks();
        this.buildBefore = moment == Moment.LOAD ? build.size() / 2 : build.size();
        this.factsBefore = facts.size() / 2;
    }

    Saved save(StateBackend backend) throws Exception {
        ThrottledEngines throttle = new ThrottledEngines(CPU, 3);
        try (JoinHarness harness = harness(EngineSelection.only(throttle), backend)) {
            harness.initializeEmptyState();
            harness.open();
            for (Chunk chunk : facts.subList(0, factsBefore / 2)) {
                harness.probe(chunk);
            }
            for (Chunk chunk : build.subList(0, buildBefore)) {
                harness.build(chunk);
            }
            if (moment == Moment.JOIN) {
                harness.endBuild();
                harness.runMails(20);
            }
            // The throttle is shut: only behind a checkpoint that has begun are facts put into
            // state.
            harness.announceCheckpoint(1);
            for (Chunk chunk : facts.subList(factsBefore / 2, factsBefore)) {
                harness.probe(chunk);
            }
            OperatorSubtaskState state =
                    harness.snapshotWithLocalState(
                                    1, 1, SavepointType.savepoint(SavepointFormatType.CANONICAL))
                            .getJobManagerOwnedState();
            return new Saved(state, harness.results());
        }
    }

    /** Restores, gives the rest of both sides, and compares all results. */
    void goOn(Saved saved, JoinEngineFactory engine, StateBackend backend) throws Exception {
        goOn(saved, EngineSelection.only(engine), backend);
    }

    /** The same with a build side that is divided; one that is replicated cannot be. */
    void goOnDivided(Saved saved, StateBackend backend) throws Exception {
        DimensionPartitioning division =
                new DimensionPartitioning(0, 0, JoinScenario.SPILL_DELAY_MS);
        goOn(saved, EngineSelection.only(CPU).dividing(division), backend);
    }

    private void goOn(Saved saved, EngineSelection engines, StateBackend backend) throws Exception {
        List<String> results = new ArrayList<>(saved.results());
        try (JoinHarness harness = harness(engines, backend)) {
            harness.initializeState(saved.state());
            harness.open();
            for (Chunk chunk : build.subList(buildBefore, build.size())) {
                harness.build(chunk);
            }
            harness.endBuild();
            for (Chunk chunk : facts.subList(factsBefore, facts.size())) {
                harness.probe(chunk);
            }
            harness.endProbe();
            harness.finish();
            results.addAll(harness.results());
        }
        assertThat(results).containsExactlyInAnyOrderElementsOf(scenario.results());
    }

    private static JoinHarness harness(EngineSelection engines, StateBackend backend)
            throws Exception {
        JoinHarness harness =
                new JoinHarness(JoinScenario.operator(engines), JoinScenario.MAX_PARALLELISM, 1, 0);
        harness.setStateBackend(backend);
        return harness;
    }
}
