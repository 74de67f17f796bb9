// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnType;

/**
 * Divides the rows of a side into those with a null key, which match nothing and bypass the join,
 * and all others. Packers mark the former by bits of a column. Not thread-safe.
 */
final class NullKeyRows {

    private final ChunkSchema schema;

    /** Fixed-width integer column, or -1 if no row has a null key. */
    private final int column;

    private final long bits;
    private final boolean isInt;

    NullKeyRows(ChunkSchema schema, int column, long bits) {
        this.schema = schema;
        this.column = column;
        this.bits = bits;
        this.isInt = column >= 0 && schema.column(column).type() == ColumnType.INT32;
    }

    /** Returns the number of rows with a null key. */
    int count(Chunk chunk) {
        int count = 0;
        for (int row = 0; column >= 0 && row < chunk.rowCount(); row++) {
            count += isNull(chunk, row) ? 1 : 0;
        }
        return count;
    }

    private boolean isNull(Chunk chunk, int row) {
        return ((isInt ? chunk.getInt(column, row) : chunk.getLong(column, row)) & bits) != 0;
    }

    /**
     * Returns a copy of some rows.
     *
     * @param isNull whether the keys of these rows are null
     */
    Chunk select(Chunk chunk, boolean isNull) {
        // A builder's capacity assumes 8 bytes a variable-width value. Nulls and short values make
        // rows narrower, so the chunk's length has no room for all of its rows.
        int rowBytes = schema.fixedRowBytes() + 8 * schema.variableWidthColumnCount();
        int targetBytes = Math.max(1, Math.multiplyExact(chunk.rowCount(), rowBytes));
        ChunkBuilder builder = new ChunkBuilder(schema, targetBytes);
        for (int row = 0; row < chunk.rowCount(); row++) {
            if (isNull(chunk, row) == isNull) {
                builder.addRow(chunk, row);
            }
        }
        return builder.seal(chunk.dimension(), chunk.partition(), chunk.epoch(), chunk.sequence());
    }
}
