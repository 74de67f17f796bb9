// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnChecks;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;

/**
 * One build side of a star join.
 *
 * @param name for messages
 * @param schema of the build chunks
 * @param keyColumn index in {@code schema} of a fixed-width integer column
 * @param factKeyColumn index in the schema of the facts of a fixed-width integer column, which
 *     {@link JoinSpec} checks; the widths of both keys may differ
 * @param kind which results a fact has for this dimension
 * @param changeColumn index in {@code schema} of a fixed-width INT32 column of {@link RowChange}
 *     codes if the dimension is a changelog, which has one row for each key; otherwise {@value
 *     #NO_CHANGES}, and keys may repeat
 * @param keyBytesColumn index in {@code schema} of the variable-width column of the full key if
 *     {@code keyColumn} of a changelog is its hash; otherwise {@value #EXACT_KEY}. Rows whose
 *     hashes are equal and whose key bytes differ are rows of different keys: a change affects the
 *     row of its own key only. Facts match all rows of their hash, and the caller compares the full
 *     keys.
 */
public record DimensionSpec(
        String name,
        ChunkSchema schema,
        int keyColumn,
        int factKeyColumn,
        JoinKind kind,
        int changeColumn,
        int keyBytesColumn)
        implements Serializable {

    /** The {@link #changeColumn} of a dimension that is not a changelog. */
    public static final int NO_CHANGES = -1;

    /** The {@link #keyBytesColumn} of a dimension whose key column contains the whole key. */
    public static final int EXACT_KEY = -1;

    /**
     * Checks the columns of {@code schema}.
     *
     * @throws IllegalArgumentException if a column is missing, nullable or of another type, or key
     *     bytes are named for a dimension that does not change or whose rows are not in results
     */
    public DimensionSpec {
        ColumnChecks.requireInteger("Join key", name, schema, keyColumn);
        if (changeColumn != NO_CHANGES) {
            ColumnChecks.requireInt32("Change column", name, schema, changeColumn);
        }
        if (keyBytesColumn != EXACT_KEY) {
            requireKeyBytes(name, schema, kind, changeColumn, keyBytesColumn);
        }
    }

    /** Describes a dimension whose rows are all submitted before the first facts. */
    public DimensionSpec(
            String name, ChunkSchema schema, int keyColumn, int factKeyColumn, JoinKind kind) {
        this(name, schema, keyColumn, factKeyColumn, kind, NO_CHANGES);
    }

    /** Describes a dimension whose key column contains the whole key. */
    public DimensionSpec(
            String name,
            ChunkSchema schema,
            int keyColumn,
            int factKeyColumn,
            JoinKind kind,
            int changeColumn) {
        this(name, schema, keyColumn, factKeyColumn, kind, changeColumn, EXACT_KEY);
    }

    private static void requireKeyBytes(
            String name, ChunkSchema schema, JoinKind kind, int changeColumn, int column) {
        ColumnChecks.requireVariableWidth("Column of key bytes", name, schema, column);
        if (changeColumn == NO_CHANGES || !kind.keepsPayload()) {
            throw new IllegalArgumentException(
                    "Key bytes of a dimension that is no changelog, or whose rows are not in results: input=%s, kind=%s, changeColumn=%d"
                            .formatted(name, kind, changeColumn));
        }
    }

    /**
     * Returns this dimension with other types of columns that are neither key nor change column.
     */
    DimensionSpec withSchema(ChunkSchema other) {
        return new DimensionSpec(
                name, other, keyColumn, factKeyColumn, kind, changeColumn, keyBytesColumn);
    }

    /** Whether rows are inserted, updated and deleted while facts are joined. */
    public boolean isChangelog() {
        return changeColumn != NO_CHANGES;
    }

    /** Whether equal integers are not always equal keys. */
    public boolean isHashed() {
        return keyBytesColumn != EXACT_KEY;
    }

    /**
     * Returns the fixed-width columns in results, in schema order: all except the key and the
     * change column. Semi and anti joins have none.
     */
    public List<Integer> payloadColumns() {
        List<Integer> columns = new ArrayList<>();
        for (int i = 0; kind.keepsPayload() && i < schema.size(); i++) {
            Column column = schema.column(i);
            if (i != keyColumn && i != changeColumn && column.isFixed()) {
                columns.add(i);
            }
        }
        return columns;
    }

    /** Whether results refer to variable-width values of build rows. */
    public boolean hasVariableWidthPayload() {
        return kind.keepsPayload() && schema.hasVariableWidth();
    }
}
