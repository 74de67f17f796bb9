package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.Chunk;

/**
 * A probe chunk whose results are not all delivered.
 *
 * @param chunk the facts
 * @param firstRow rows before this one are fully delivered; joining goes on here
 */
public record PendingProbe(Chunk chunk, int firstRow) {

    public PendingProbe {
        if (firstRow < 0 || firstRow > chunk.rowCount()) {
            throw new IllegalArgumentException(
                    "joining goes on at a row of the chunk: firstRow="
                            + firstRow
                            + ", rowCount="
                            + chunk.rowCount());
        }
    }
}
