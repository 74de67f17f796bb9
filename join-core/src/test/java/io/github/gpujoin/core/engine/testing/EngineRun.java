// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/**
 * Submits chunks to an engine and collects its results. Checks every batch by the contract: its
 * size, its chunk, the order of probe rows, and its progress.
 */
public final class EngineRun {

    private static final long TIMEOUT_NS = TimeUnit.SECONDS.toNanos(60);

    /** Results of one submitted probe chunk. */
    public static final class Probe {
        private final Chunk chunk;
        private final List<ResultRow> rows = new ArrayList<>();
        private final int firstRow;
        private int completedRows;
        private int lastProbeRow;

        private Probe(InFlightProbe pending) {
            this.chunk = pending.chunk();
            this.firstRow = pending.firstRow();
            this.completedRows = pending.firstRow();
            this.lastProbeRow = pending.firstRow();
        }

        public Chunk chunk() {
            return chunk;
        }

        public int completedRows() {
            return completedRows;
        }

        /** Returns the results so far, sorted. */
        public List<ResultRow> rows() {
            return rows.stream().sorted().toList();
        }
    }

    private final JoinEngine engine;
    private final List<Probe> probes = new ArrayList<>();
    private final ArrayDeque<Probe> inFlight = new ArrayDeque<>();
    private final Map<List<Long>, List<Long>> groups = new HashMap<>();
    private int takes;

    public EngineRun(JoinEngine engine) {
        this.engine = engine;
    }

    public JoinEngine engine() {
        return engine;
    }

    /** Small, so that several steps build even a small table. */
    private static final int BUILD_STEP_ROWS = 37;

    /** Starts a JOINING engine with the build chunks. */
    public static JoinEngine loaded(
            JoinEngineFactory factory, JoinSpec spec, List<RandomJoinData.BuildChunk> builds) {
        JoinEngine engine = factory.create(spec);
        builds.forEach(build -> engine.submitBuild(build.dimension(), build.chunk()));
        boolean complete = false;
        while (!complete) {
            complete = engine.buildStep(BUILD_STEP_ROWS);
        }
        return engine;
    }

    /** Returns the sorted results of each probe chunk. */
    public static List<List<ResultRow>> join(
            JoinEngineFactory factory,
            JoinSpec spec,
            List<RandomJoinData.BuildChunk> builds,
            List<Chunk> probes) {
        try (JoinEngine engine = loaded(factory, spec, builds)) {
            EngineRun run = new EngineRun(engine);
            probes.forEach(probe -> run.submit(probe, 0));
            run.drain();
            return run.results();
        }
    }

    /**
     * Returns the groups of an aggregating join, which are read whenever the engine pauses and at
     * the end.
     */
    public static Map<List<Long>, List<Long>> aggregate(
            JoinEngineFactory factory,
            JoinSpec spec,
            List<RandomJoinData.BuildChunk> builds,
            List<Chunk> probes) {
        try (JoinEngine engine = loaded(factory, spec, builds)) {
            EngineRun run = new EngineRun(engine);
            probes.forEach(probe -> run.submit(probe, 0));
            run.drain();
            run.drainGroups();
            return run.groups();
        }
    }

    /** Submits the chunk, polling until there is room. */
    public void submit(Chunk chunk, int firstRow) {
        while (!engine.submitProbe(chunk, firstRow)) {
            assertThat(poll()).as("an engine without room has something in flight").isTrue();
        }
        track(new InFlightProbe(chunk, firstRow));
    }

    public void restore(List<InFlightProbe> pending) {
        engine.restore(pending);
        pending.forEach(this::track);
    }

    /** Counts a chunk that was submitted past {@link #submit}. */
    public void track(InFlightProbe pending) {
        Probe probe = new Probe(pending);
        probes.add(probe);
        inFlight.add(probe);
    }

    /** Polls one batch. Returns false if nothing is in flight. */
    public boolean poll() {
        long deadline = System.nanoTime() + TIMEOUT_NS;
        ResultBatch batch = engine.poll();
        while (batch == null && !inFlight.isEmpty()) {
            if (engine.awaitsDrain()) {
                drainGroups();
            }
            assertThat(System.nanoTime()).as("results within a minute").isLessThan(deadline);
            Thread.yield(); // an emulated device may share this core
            batch = engine.poll();
        }
        if (batch != null) {
            take(batch);
        }
        return batch != null;
    }

    private void take(ResultBatch batch) {
        Probe probe = inFlight.peek();
        assertThat(probe).as("the chunk of a batch is in flight").isNotNull();
        assertThat(batch.chunk()).isSameAs(probe.chunk);
        assertThat(batch.rowCount())
                .isBetween(0, engine.spec().isAggregating() ? 0 : batch.layout().capacityRows());
        assertThat(batch.completedRows()).isBetween(probe.completedRows, probe.chunk.rowCount());
        if (probe.completedRows == probe.firstRow) {
            // No row is complete: the engine may start another pass over the chunk.
            probe.lastProbeRow = probe.firstRow;
        }
        for (ResultRow row : ResultRows.of(engine.spec(), batch)) {
            assertThat(row.probeRow())
                    .as("in order of probe rows, none of a row said to be complete")
                    .isBetween(probe.lastProbeRow, probe.chunk.rowCount() - 1)
                    .isGreaterThanOrEqualTo(probe.completedRows);
            probe.lastProbeRow = row.probeRow();
            probe.rows.add(row);
        }
        probe.completedRows = batch.completedRows();
        if (batch.isLast()) {
            inFlight.remove();
        }
        assertThat(engine.inFlightCount()).isEqualTo(inFlight.size());
    }

    /** Reads the engine's groups and merges them with earlier ones. */
    public void drainGroups() {
        Aggregation aggregation = engine.spec().aggregation();
        GroupRows rows = engine.drainGroups();
        takes++;
        Set<List<Long>> once = new HashSet<>();
        for (int row = 0; row < rows.rowCount(); row++) {
            List<Long> group = new ArrayList<>();
            for (int c = 0; c < aggregation.groupColumns().size(); c++) {
                group.add(rows.groupValue(row, c));
            }
            List<Long> sums = new ArrayList<>();
            for (int a = 0; a < aggregation.aggregates().size(); a++) {
                sums.add(rows.aggregate(row, a));
            }
            assertThat(once.add(group)).as("a group is given once at a time: %s", group).isTrue();
            groups.merge(group, sums, NestedLoopJoin::sums);
        }
    }

    /** Returns the groups read so far. */
    public Map<List<Long>, List<Long>> groups() {
        return groups;
    }

    /** Returns the number of times that groups were read. */
    public int takes() {
        return takes;
    }

    /** Polls until nothing is in flight, and all tables are complete. */
    public void drain() {
        while (poll()) {}
        assertThat(inFlight).isEmpty();
        awaitTables(engine);
    }

    /** Polls an engine that replaced another one, until its tables are complete. */
    public static void awaitTables(JoinEngine engine) {
        while (engine.state() == EngineState.BUILDING) {
            assertThat(engine.poll()).isNull();
        }
    }

    /** Returns the in-flight chunks in order. */
    public List<Probe> unfinished() {
        return List.copyOf(inFlight);
    }

    /** Returns all submitted and restored chunks in order. */
    public List<Probe> probes() {
        return List.copyOf(probes);
    }

    /** Returns the sorted results of all submitted and restored chunks, in order. */
    public List<List<ResultRow>> results() {
        return probes.stream().map(Probe::rows).toList();
    }
}
