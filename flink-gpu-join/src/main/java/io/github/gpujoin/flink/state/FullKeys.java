// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/** Reads and compares the full keys of the rows of one side. Immutable. */
public final class FullKeys {

    private final int keyColumn;

    /** Null if equal integers are equal keys. */
    private final @Nullable VariableWidthColumn bytes;

    /**
     * @param keyColumn fixed integer column
     * @param keyBytesColumn variable-width column, or {@link DimensionSpec#EXACT_KEY} if equal
     *     integers are equal keys
     */
    public FullKeys(ChunkSchema schema, int keyColumn, int keyBytesColumn) {
        this.keyColumn = keyColumn;
        this.bytes =
                keyBytesColumn == DimensionSpec.EXACT_KEY
                        ? null
                        : VariableWidthColumn.of(schema, keyBytesColumn);
    }

    /** Returns the keys of the rows of a dimension. */
    public static FullKeys of(DimensionSpec side) {
        return new FullKeys(side.schema(), side.keyColumn(), side.keyBytesColumn());
    }

    /** Whether equal integers are not always equal keys. */
    public boolean areHashed() {
        return bytes != null;
    }

    /** Returns the key of a row, or its hash. */
    public long integer(Chunk chunk, int row) {
        return chunk.getLong(keyColumn, row);
    }

    /** Returns a copy of the key of a row, which does not keep the chunk. */
    public FullKey get(Chunk chunk, int row) {
        long integer = integer(chunk, row);
        return bytes == null
                ? FullKey.exact(integer)
                : FullKey.hashed(integer, bytes.copy(chunk, row));
    }

    /** Whether the key of a row equals a key of such rows. Copies nothing. */
    public boolean isEqual(FullKey key, Chunk chunk, int row) {
        if (key.integer() != integer(chunk, row)) {
            return false;
        }
        if (bytes == null) {
            return true;
        }
        byte[] expected = key.bytes();
        long at = bytes.locate(chunk, row);
        return Memory.getInt(chunk.array(), at) == expected.length
                && Memory.equal(
                        chunk.array(), at + Integer.BYTES, expected, Memory.BYTES, expected.length);
    }
}
