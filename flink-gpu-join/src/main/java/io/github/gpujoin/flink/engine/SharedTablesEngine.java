package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.PendingProbe;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.execution.CancelTaskException;

/**
 * Joins with tables that all subtasks of the operator in this process share, where all build chunks
 * are replicated. These are kept, as references, until the build side is complete. With the first
 * chunk of a partitioned dimension the engine builds tables of its own, as they come, and so it
 * does from the start where a dimension changes.
 */
final class SharedTablesEngine implements JoinEngine {

    /** A chunk and the dimension that it was submitted for. */
    private record BuildChunk(int dimension, Chunk chunk) {}

    private final SharedTables.Scope scope;
    private final List<BuildChunk> kept = new ArrayList<>();

    /** One that loads; then one over the shared tables. */
    private volatile ForkableJoinEngine engine;

    /** Null before the build side is complete, and where tables are our own. */
    private SharedTables tables;

    private boolean shares;
    private long keptRows;
    private long keptBytes;
    private long keptChecksums;

    private SharedTablesEngine(SharedTables.Scope scope, ForkableJoinEngine engine) {
        this.scope = scope;
        this.engine = engine;
        this.shares = !engine.spec().changes();
    }

    /** Makes engines that share, of a kind that can; others as they are. */
    static JoinEngineFactory factory(JoinEngineFactory inner, SharedTables.Scope scope) {
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
                        ? new SharedTablesEngine(scope, forkable)
                        : engine;
            }
        };
    }

    // ------------------------------------------------------------------ build side

    @Override
    public void submitBuild(int dimension, Chunk chunk) {
        if (!shares) {
            engine.submitBuild(dimension, chunk);
            return;
        }
        state().require(EngineState.LOADING);
        EngineChecks.buildSide(spec(), dimension, chunk);
        if (chunk.partition() != ChunkDescriptor.UNPARTITIONED) {
            shares = false;
            submitKept();
            engine.submitBuild(dimension, chunk);
            return;
        }
        kept.add(new BuildChunk(dimension, chunk));
        keptRows += chunk.rowCount();
        keptBytes += EngineChecks.payloadBytes(chunk);
        long checksum =
                Memory.getLong(chunk.bytes(), Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET);
        keptChecksums += checksum * (2L * dimension + 1);
    }

    private void submitKept() {
        kept.forEach(build -> engine.submitBuild(build.dimension(), build.chunk()));
        kept.clear();
    }

    @Override
    public void finishBuild() {
        state().require(EngineState.LOADING);
        if (!shares) {
            engine.finishBuild();
            return;
        }
        ForkableJoinEngine own = engine;
        SharedTables.Key key =
                new SharedTables.Key(scope, own.tablePlace(), kept.size(), keptRows, keptChecksums);
        try {
            tables = SharedTables.acquire(key, this::build);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancelTaskException("the task was cancelled while another one built tables");
        }
        if (own.state() == EngineState.LOADING) {
            own.close(); // another subtask built the tables
        }
        engine = tables.fork();
        kept.clear();
    }

    private ForkableJoinEngine build() {
        submitKept();
        engine.finishBuild();
        return engine;
    }

    /** The engine in use, of which others may share the tables. */
    JoinEngine current() {
        return engine;
    }

    // ------------------------------------------------------------------ probe side

    @Override
    public JoinSpec spec() {
        return engine.spec();
    }

    @Override
    public EngineState state() {
        return engine.state();
    }

    @Override
    public boolean submitProbe(Chunk chunk, int firstRow) {
        return engine.submitProbe(chunk, firstRow);
    }

    @Override
    public ResultBatch poll() {
        return engine.poll();
    }

    @Override
    public boolean awaitsTake() {
        return engine.awaitsTake();
    }

    @Override
    public GroupRows takeGroups() {
        return engine.takeGroups();
    }

    @Override
    public int inFlight() {
        return engine.inFlight();
    }

    @Override
    public List<PendingProbe> snapshot() {
        return engine.snapshot();
    }

    @Override
    public void restore(List<PendingProbe> pending) {
        engine.restore(pending);
    }

    @Override
    public EngineStats stats() {
        JoinEngine current = engine;
        return shares && current.state() == EngineState.LOADING
                ? new EngineStats(keptRows, keptBytes, 0, 0, 0)
                : current.stats();
    }

    @Override
    public void close() {
        kept.clear();
        if (tables == null) {
            engine.close();
            return;
        }
        if (!tables.wereBuiltBy(engine)) {
            engine.close();
        }
        tables.close();
        tables = null;
    }
}
