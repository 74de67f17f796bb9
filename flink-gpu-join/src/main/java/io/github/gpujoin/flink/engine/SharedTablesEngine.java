// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.flink.state.SharedChunk;
import java.util.ArrayDeque;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.jspecify.annotations.Nullable;

/**
 * Joins with tables that all subtasks of the operator in this process share, if all build chunks
 * are replicated. The engine keeps shared copies of chunks until the build side is complete. From
 * the first chunk of a partitioned dimension, it builds its own tables. With a changelog dimension
 * it does so from the start.
 */
final class SharedTablesEngine implements JoinEngine {

    /** A chunk off the heap, and its dimension. */
    private record BuildChunk(int dimension, SharedChunk chunk) {}

    private static final long WAIT_NS = TimeUnit.MICROSECONDS.toNanos(500);

    private final SharedTables.Scope scope;
    private final MemoryReservations memory;
    private final ArrayDeque<BuildChunk> kept = new ArrayDeque<>();

    /** First an engine that loads, then one over the shared tables. */
    private volatile ForkableJoinEngine engine;

    /** Null before the first build step, and for tables of this subtask alone. */
    private volatile @Nullable SharedTables tables;

    private boolean isSharing;
    private long keptRows;
    private long keptBytes;
    private long keptChecksums;

    private SharedTablesEngine(
            SharedTables.Scope scope, MemoryReservations memory, ForkableJoinEngine engine) {
        this.scope = scope;
        this.memory = memory;
        this.engine = engine;
        this.isSharing = !engine.spec().hasChangelog();
    }

    /**
     * Wraps a factory if its engines can share tables.
     *
     * @param memory for the kept build chunks
     */
    static JoinEngineFactory factory(
            JoinEngineFactory inner, SharedTables.Scope scope, MemoryReservations memory) {
        return new JoinEngineFactory() {
            private static final long serialVersionUID = 1L;

            @Override
            public String engineName() {
                return inner.engineName();
            }

            @Override
            public JoinEngine create(JoinSpec spec) {
                JoinEngine engine = inner.create(spec);
                return engine instanceof ForkableJoinEngine forkable
                        ? new SharedTablesEngine(scope, memory, forkable)
                        : engine;
            }
        };
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void submitBuild(int dimension, Chunk chunk) {
        if (!isSharing) {
            engine.submitBuild(dimension, chunk);
            return;
        }
        state().require(EngineState.LOADING);
        EngineChecks.buildSide(spec(), dimension, chunk);
        if (chunk.partition() != ChunkDescriptor.UNPARTITIONED) {
            isSharing = false;
            submitKept(Long.MAX_VALUE);
            engine.submitBuild(dimension, chunk);
            return;
        }
        kept.add(new BuildChunk(dimension, SharedChunk.of(chunk, memory)));
        keptRows += chunk.rowCount();
        keptBytes += EngineChecks.payloadBytes(chunk);
        long checksum =
                Memory.getLong(chunk.bytes(), Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
        keptChecksums += checksum * (2L * dimension + 1);
    }

    /**
     * Submits kept chunks with about the given number of rows.
     *
     * @return whether no chunk is left
     */
    private boolean submitKept(long maxRows) {
        for (long rows = 0; !kept.isEmpty() && rows < maxRows; ) {
            BuildChunk build = kept.remove();
            try (SharedChunk shared = build.chunk()) {
                Chunk chunk = shared.read();
                engine.submitBuild(build.dimension(), chunk);
                rows += chunk.rowCount();
            }
        }
        return kept.isEmpty();
    }

    private void dropKept() {
        kept.forEach(build -> build.chunk().close());
        kept.clear();
    }

    @Override
    public boolean buildStep(long maxRows) {
        if (!isSharing) {
            return engine.buildStep(maxRows);
        }
        if (tables == null) {
            state().require(EngineState.LOADING);
            tables = SharedTables.use(key());
        }
        state().require(EngineState.BUILDING);
        if (tables.claim(engine)) {
            return buildShared(maxRows);
        }
        ForkableJoinEngine built = tables.built();
        if (built != null) {
            engine.close();
            join(built);
            return true;
        }
        awaitBuilder();
        return false;
    }

    private SharedTables.Key key() {
        return new SharedTables.Key(
                scope, engine.tableLocation(), kept.size(), keptRows, keptChecksums);
    }

    private boolean buildShared(long maxRows) {
        ForkableJoinEngine builder = engine;
        try {
            if (!submitKept(maxRows) || !builder.buildStep(maxRows)) {
                return false;
            }
        } catch (Throwable e) {
            tables.abandon(builder);
            throw e;
        }
        tables.complete(builder);
        join(builder);
        return true;
    }

    /** Joins with complete tables. */
    private void join(ForkableJoinEngine built) {
        engine = built.fork();
        dropKept();
    }

    private static void awaitBuilder() {
        if (Thread.currentThread().isInterrupted()) {
            throw new CancelTaskException(
                    "The task was cancelled while another subtask built tables.");
        }
        LockSupport.parkNanos(WAIT_NS);
    }

    /** The current engine; others may share its tables. */
    JoinEngine current() {
        return engine;
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public boolean verifiesSlots() {
        return engine.verifiesSlots();
    }

    @Override
    public JoinSpec spec() {
        return engine.spec();
    }

    @Override
    public EngineState state() {
        EngineState state = engine.state();
        return state == EngineState.LOADING && tables != null ? EngineState.BUILDING : state;
    }

    @Override
    public boolean submitProbe(Chunk chunk, int firstRow) {
        return engine.submitProbe(chunk, firstRow);
    }

    @Override
    public @Nullable ResultBatch poll() {
        return engine.poll();
    }

    @Override
    public boolean awaitsDrain() {
        return engine.awaitsDrain();
    }

    @Override
    public GroupRows drainGroups() {
        return engine.drainGroups();
    }

    @Override
    public int inFlightCount() {
        return engine.inFlightCount();
    }

    @Override
    public List<InFlightProbe> snapshot() {
        return engine.snapshot();
    }

    @Override
    public void restore(List<InFlightProbe> pending) {
        engine.restore(pending);
    }

    @Override
    public EngineStats stats() {
        JoinEngine current = engine;
        return isSharing && current.state() == EngineState.LOADING
                ? new EngineStats(keptRows, keptBytes, 0, 0, 0)
                : current.stats();
    }

    @Override
    public void close() {
        dropKept();
        if (tables == null) {
            engine.close();
            return;
        }
        if (tables.built() != engine) {
            engine.close();
        }
        tables.abandon(engine);
        tables.close();
        tables = null;
    }
}
