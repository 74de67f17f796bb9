// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * Reads a fixed-width column of one chunk after another as plain values: in place, or decoded to an
 * array that is reused. For readers of most rows. Not thread-safe.
 */
public final class PlainColumn {

    private final int column;
    private @Nullable Chunk chunk;

    /** Both are allocated for the first encoded chunk. */
    private @Nullable TileScratch scratch;

    private byte[] decoded = new byte[0];

    private byte @Nullable [] base;
    private long start;

    public PlainColumn(int column) {
        this.column = column;
    }

    /**
     * Makes the values of a chunk readable until the next call.
     *
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs are wrong
     */
    public void bind(Chunk next) {
        if (next == chunk) {
            return;
        }
        chunk = null;
        if (next instanceof EncodedChunk encoded) {
            int bytes = next.schema().column(column).type().widthBytes() * next.rowCount();
            if (decoded.length < bytes) {
                decoded = new byte[bytes];
            }
            scratch = scratch == null ? new TileScratch() : scratch;
            encoded.column(column).decode(decoded, Memory.BYTES, scratch);
            base = decoded;
            start = Memory.BYTES;
        } else {
            base = next.array();
            start = next.columnStart(column);
        }
        chunk = next;
    }

    /** Returns the array of the values, or null for native memory. */
    public byte @Nullable [] base() {
        return base;
    }

    /** Returns the offset of row 0 in {@link #base()}, or its address. */
    public long start() {
        return start;
    }
}
