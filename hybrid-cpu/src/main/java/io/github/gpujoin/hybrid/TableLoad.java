package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.function.ToIntFunction;

/** Makes tables from the log step by step, so that others can be probed in between. */
final class TableLoad implements AutoCloseable {

    /** Build steps that take about as long as a few chunks. */
    static final int BUILD_STEPS = 16;

    private final ToIntFunction<Chunk> dimension;
    private final Iterator<Chunk> chunks;
    private JoinEngine engine;
    private long loadedChunks;

    /**
     * @param engine LOADING; closed with the load unless it is taken
     * @param dimension of the chunks
     */
    TableLoad(JoinEngine engine, int dimension, Iterator<Chunk> chunks) {
        this(engine, chunk -> dimension, chunks);
    }

    /** As the other one, of chunks that name their dimension. */
    TableLoad(JoinEngine engine, Iterator<Chunk> chunks) {
        this(engine, Chunk::dimension, chunks);
    }

    private TableLoad(JoinEngine engine, ToIntFunction<Chunk> dimension, Iterator<Chunk> chunks) {
        this.engine = engine;
        this.dimension = dimension;
        this.chunks = chunks;
    }

    /**
     * Loads one chunk more or, after the last one, does some of the work that completes the tables.
     *
     * @param buildSteps of the engine, at most
     * @return whether the tables are complete
     */
    boolean step(long maxRows, int buildSteps) {
        if (engine.state() == EngineState.LOADING && chunks.hasNext()) {
            Chunk chunk = chunks.next();
            engine.submitBuild(dimension.applyAsInt(chunk), chunk);
            loadedChunks++;
            return false;
        }
        for (int i = 0; i < buildSteps; i++) {
            if (engine.buildStep(maxRows)) {
                return true;
            }
        }
        return false;
    }

    long loadedChunks() {
        return loadedChunks;
    }

    /** The engine, once its tables are complete; the caller closes it. */
    JoinEngine take() {
        JoinEngine taken = engine;
        engine = null;
        return taken;
    }

    @Override
    public void close() {
        if (engine != null) {
            engine.close();
            engine = null;
        }
    }
}
