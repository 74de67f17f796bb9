package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ProbeQueue;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.ArrayList;
import java.util.List;

/**
 * Joins on the CPU with one {@link CpuJoinTable} for each dimension. Synchronous: {@link #poll()}
 * does the work of one batch. All memory that grows with the data is off the heap, and probing
 * allocates nothing.
 *
 * <p>One thread calls at a time; {@link #fork()} gives engines for other threads over the same
 * tables.
 */
public final class CpuJoinEngine implements ForkableJoinEngine {

    private static final int MAX_IN_FLIGHT = 4;

    private final JoinSpec spec;
    private final List<BuildStaging> staging = new ArrayList<>();
    private final List<CpuJoinTable> tables = new ArrayList<>();
    private final ProbeQueue<Probe> queue;
    private final PagedMemory scratch = new PagedMemory();
    private ProbePipeline pipeline;

    /** Null where results are given as rows. */
    private GroupTable groups;

    private EngineState state = EngineState.LOADING;
    private long buildRows;
    private long buildBytes;

    /** A chunk in flight, and whether joining it has begun. */
    private static final class Probe extends ProbeQueue.Probe {
        boolean opened;

        Probe(PendingProbe pending) {
            super(pending);
        }
    }

    public CpuJoinEngine(JoinSpec spec) {
        this.spec = spec;
        this.queue = new ProbeQueue<>(spec, MAX_IN_FLIGHT, Probe::new);
        for (DimensionSpec dimension : spec.dimensions()) {
            staging.add(new BuildStaging(new RowLayout(dimension)));
        }
    }

    @Override
    public CpuJoinEngine fork() {
        state.require(EngineState.JOINING);
        CpuJoinEngine fork = new CpuJoinEngine(spec);
        fork.buildRows = buildRows;
        fork.buildBytes = buildBytes;
        try {
            tables.forEach(table -> fork.tables.add(table.retain()));
            fork.startJoining();
        } catch (Throwable e) {
            fork.close();
            throw e;
        }
        return fork;
    }

    @Override
    public Object tablePlace() {
        return CpuJoinEngine.class;
    }

    @Override
    public JoinSpec spec() {
        return spec;
    }

    @Override
    public EngineState state() {
        return state;
    }

    @Override
    public void submitBuild(int dimension, Chunk chunk) {
        state.require(EngineState.LOADING);
        EngineChecks.buildSide(spec, dimension, chunk);
        try {
            staging.get(dimension).append(chunk);
        } catch (Throwable e) {
            state = state.to(EngineState.FAILED);
            throw e;
        }
        buildRows += chunk.rowCount();
        buildBytes += EngineChecks.payloadBytes(chunk);
    }

    @Override
    public void finishBuild() {
        state.require(EngineState.LOADING);
        try {
            for (int d = 0; d < staging.size(); d++) {
                boolean keepsRepeats = spec.dimensions().get(d).kind().keepsPayload();
                tables.add(CpuJoinTable.build(staging.get(d), keepsRepeats));
            }
            startJoining();
        } catch (Throwable e) {
            state = state.to(EngineState.FAILED);
            throw e;
        }
    }

    private void startJoining() {
        pipeline = new ProbePipeline(spec, tables, scratch);
        if (spec.aggregates()) {
            groups = new GroupTable(spec, ProbePipeline.BATCH_ROWS, scratch);
        }
        state = state.to(EngineState.JOINING);
    }

    @Override
    public boolean submitProbe(Chunk chunk, int firstRow) {
        state.require(EngineState.JOINING);
        return queue.submit(chunk, firstRow);
    }

    @Override
    public ResultBatch poll() {
        state.require(EngineState.JOINING);
        Probe head = queue.head();
        if (head == null || awaitsTake()) {
            return null;
        }
        if (!head.opened) {
            pipeline.open(head.chunk(), head.firstRow());
            head.opened = true;
        }
        ResultBatch batch = pipeline.next();
        if (groups != null) {
            groups.add(batch);
            batch.set(batch.chunk(), 0, batch.completedRows());
        }
        queue.delivered(batch);
        return batch;
    }

    @Override
    public boolean awaitsTake() {
        return groups != null && groups.isFull();
    }

    @Override
    public GroupRows takeGroups() {
        state.require(EngineState.JOINING);
        EngineChecks.takingGroups(spec, queue.size(), awaitsTake());
        GroupRows taken = groups.take();
        queue.delivered(taken);
        return taken;
    }

    @Override
    public int inFlight() {
        return queue.size();
    }

    @Override
    public List<PendingProbe> snapshot() {
        return queue.snapshot();
    }

    @Override
    public void restore(List<PendingProbe> pending) {
        state.require(EngineState.JOINING);
        queue.restore(pending);
    }

    @Override
    public EngineStats stats() {
        long tableBytes =
                tables.stream().mapToLong(CpuJoinTable::lengthBytes).sum()
                        + staging.stream().mapToLong(BuildStaging::lengthBytes).sum();
        return new EngineStats(
                buildRows, buildBytes, tableBytes, queue.probeRows(), queue.resultRows());
    }

    @Override
    public void close() {
        if (state != EngineState.CLOSED) {
            state = state.to(EngineState.CLOSED);
            queue.clear();
            scratch.close();
            tables.forEach(CpuJoinTable::close);
            tables.clear();
            staging.forEach(BuildStaging::close);
        }
    }
}
