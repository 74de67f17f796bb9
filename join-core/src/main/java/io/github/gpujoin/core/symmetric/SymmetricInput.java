// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ColumnChecks;
import java.io.Serializable;
import java.util.List;

/**
 * One input of a symmetric join.
 *
 * @param name for messages
 * @param schema of the chunks
 * @param keyColumn index of a fixed-width integer column: the key, or the hash of a longer one
 * @param keyBytesColumn index of the variable-width column of the full key if {@code keyColumn} is
 *     a hash, otherwise {@value #NONE}. Rows match if both are equal.
 * @param nullKeyColumn index of a fixed-width INT32 column that is not 0 if the key is null, so
 *     that the row matches nothing; {@value #NONE} if no key is null
 * @param changeColumn index of a fixed-width INT32 column of {@link ChangeKind} codes; {@value
 *     #NONE} exactly if rows are {@linkplain RowIdentity#APPEND_ONLY only inserted}
 * @param identity which earlier row a change refers to
 * @param identityColumns indexes of the columns that identify a row within its join key, for {@link
 *     RowIdentity#UNIQUE_COLUMNS} and {@link RowIdentity#MULTISET}; otherwise empty
 * @param timeToLiveMs how long a row is in the table after it was added; {@link #FOREVER} for no
 *     limit
 */
public record SymmetricInput(
        String name,
        ChunkSchema schema,
        int keyColumn,
        int keyBytesColumn,
        int nullKeyColumn,
        int changeColumn,
        RowIdentity identity,
        List<Integer> identityColumns,
        long timeToLiveMs)
        implements Serializable {

    /** The index of a column that an input does not have. */
    public static final int NONE = -1;

    /** The time to live of rows that never expire. */
    public static final long FOREVER = Long.MAX_VALUE;

    /**
     * Copies the list and checks all columns.
     *
     * @throws IllegalArgumentException if a column is missing or of another type, the columns
     *     contradict the identity, or the time to live is not positive
     */
    public SymmetricInput {
        identityColumns = List.copyOf(identityColumns);
        ColumnChecks.requireInteger("Join key", name, schema, keyColumn);
        if (keyBytesColumn != NONE) {
            ColumnChecks.requireVariableWidth("Column of key bytes", name, schema, keyBytesColumn);
        }
        requireInt32("Null-key column", name, schema, nullKeyColumn);
        requireInt32("Change column", name, schema, changeColumn);
        if ((changeColumn == NONE) != (identity == RowIdentity.APPEND_ONLY)) {
            throw new IllegalArgumentException(
                    "Change column contradicts the identity of rows: input=%s, changeColumn=%d, identity=%s"
                            .formatted(name, changeColumn, identity));
        }
        boolean needsColumns =
                identity == RowIdentity.UNIQUE_COLUMNS || identity == RowIdentity.MULTISET;
        if (needsColumns == identityColumns.isEmpty()) {
            throw new IllegalArgumentException(
                    "Identity columns contradict the identity of rows: input=%s, columns=%s, identity=%s"
                            .formatted(name, identityColumns, identity));
        }
        for (int index : identityColumns) {
            ColumnChecks.require("Identity column", name, schema, index);
        }
        if (timeToLiveMs <= 0) {
            throw new IllegalArgumentException(
                    "Time to live is not positive: input=%s, timeToLiveMs=%d"
                            .formatted(name, timeToLiveMs));
        }
    }

    /** Whether rows are updated or deleted. */
    public boolean isChangelog() {
        return changeColumn != NONE;
    }

    /** Whether equal integers are not always equal keys. */
    public boolean isHashed() {
        return keyBytesColumn != NONE;
    }

    private static void requireInt32(String role, String input, ChunkSchema schema, int index) {
        if (index != NONE) {
            ColumnChecks.requireInt32(role, input, schema, index);
        }
    }
}
