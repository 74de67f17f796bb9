// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import java.util.Iterator;
import java.util.function.ToIntFunction;
import org.jspecify.annotations.Nullable;

/**
 * Builds tables from the log in steps, so that other tables can be probed in between. Not
 * thread-safe.
 */
final class TableLoad implements AutoCloseable {

    /** Build steps of one call; they take about as long as a few chunks. */
    static final int BUILD_STEPS = 16;

    private final ToIntFunction<Chunk> dimension;
    private final Iterator<Chunk> chunks;
    private @Nullable JoinEngine engine;
    private long loadedChunks;

    /**
     * @param engine in state LOADING; the load closes it unless {@link #detachEngine()} returns it
     * @param dimension of all chunks
     */
    TableLoad(JoinEngine engine, int dimension, Iterator<Chunk> chunks) {
        this(engine, chunk -> dimension, chunks);
    }

    /** Loads chunks that hold the number of their dimension. */
    TableLoad(JoinEngine engine, Iterator<Chunk> chunks) {
        this(engine, Chunk::dimension, chunks);
    }

    private TableLoad(JoinEngine engine, ToIntFunction<Chunk> dimension, Iterator<Chunk> chunks) {
        this.engine = engine;
        this.dimension = dimension;
        this.chunks = chunks;
    }

    /**
     * Loads one chunk, or runs some build steps after the last chunk.
     *
     * @param maxRows limit of the rows of a build step
     * @param buildSteps limit of the build steps
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

    /** Returns the engine after its tables are complete. The caller closes it. */
    JoinEngine detachEngine() {
        JoinEngine loaded = engine;
        engine = null;
        return loaded;
    }

    @Override
    public void close() {
        if (engine != null) {
            engine.close();
            engine = null;
        }
    }
}
