package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;

/** Makes tables from the log step by step, so that others can be probed in between. */
final class TableLoad implements AutoCloseable {

    private final int dimension;
    private final Iterator<Chunk> chunks;
    private JoinEngine engine;
    private long loadedChunks;

    /**
     * @param engine LOADING; closed with the load unless it is taken
     * @param dimension of the chunks
     */
    TableLoad(JoinEngine engine, int dimension, Iterator<Chunk> chunks) {
        this.engine = engine;
        this.dimension = dimension;
        this.chunks = chunks;
    }

    /**
     * Loads one chunk more or, after the last one, completes the tables.
     *
     * @return whether they are complete
     */
    boolean step() {
        if (!chunks.hasNext()) {
            engine.finishBuild();
            return true;
        }
        engine.submitBuild(dimension, chunks.next());
        loadedChunks++;
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
