// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/**
 * How whole internal rows are in chunks:
 *
 * <pre>
 *   $key         INT64   integer of the join key; the partition is its hash
 *   $record      BYTES   the binary row, whose kind is INSERT
 *   $keyBytes    BYTES   the join key, if $key is a hash
 *   $identity    INT64 or BYTES   the unique columns, if the input has any
 *   $nullKeys    INT32   1 if the join key is null; only if such rows are results
 *   $change      INT32   kind of change; only if the rows are not all inserted
 * </pre>
 *
 * <p>{@code $record} is the first column of variable width, so that a row is found without a walk
 * over other values. Immutable.
 */
public final class StoredRowLayout implements Serializable {

    /** Column of unique columns. */
    static final String IDENTITY = "$identity";

    private static final String KEY_BYTES = "$keyBytes";

    private static final long serialVersionUID = 1L;

    private final RowType type;
    private final RowKey key;
    private final RowIdentity identity;
    private final @Nullable RowKey uniqueKey;
    private final boolean keepsNullKeys;
    private final ChunkSchema schema;

    /**
     * @param key of the join
     * @param uniqueKey columns that are unique; null unless the identity is {@link
     *     RowIdentity#UNIQUE_COLUMNS}
     * @param keepsNullKeys whether rows without a match are results
     */
    public StoredRowLayout(
            RowType type,
            RowKey key,
            RowIdentity identity,
            @Nullable RowKey uniqueKey,
            boolean keepsNullKeys) {
        this.type = type;
        this.key = key;
        this.identity = identity;
        this.uniqueKey = uniqueKey;
        this.keepsNullKeys = keepsNullKeys;
        List<Column> columns = new ArrayList<>();
        columns.add(Column.of(RecordLayout.KEY, ColumnType.INT64));
        columns.add(Column.nullable(RecordLayout.RECORD, ColumnType.BYTES));
        if (!key.isExact()) {
            columns.add(Column.nullable(KEY_BYTES, ColumnType.BYTES));
        }
        if (uniqueKey != null) {
            columns.add(
                    uniqueKey.isExact()
                            ? Column.of(IDENTITY, ColumnType.INT64)
                            : Column.nullable(IDENTITY, ColumnType.BYTES));
        }
        if (keepsNullKeys) {
            columns.add(Column.of(RecordLayout.NULL_KEYS, ColumnType.INT32));
        }
        if (identity != RowIdentity.APPEND_ONLY) {
            columns.add(Column.of(RecordLayout.CHANGE, ColumnType.INT32));
        }
        this.schema = ChunkSchema.of(columns);
    }

    public ChunkSchema schema() {
        return schema;
    }

    public RowType type() {
        return type;
    }

    /** Returns the index of the column of rows. */
    public int recordColumn() {
        return schema.require(RecordLayout.RECORD);
    }

    RowKey key() {
        return key;
    }

    @Nullable RowKey uniqueKey() {
        return uniqueKey;
    }

    RowIdentity identity() {
        return identity;
    }

    boolean keepsNullKeys() {
        return keepsNullKeys;
    }

    /** Returns the input of a join whose rows have this layout. */
    public SymmetricInput input(String name, long timeToLiveMs) {
        List<Integer> identityColumns =
                switch (identity) {
                    case APPEND_ONLY, JOIN_KEY -> List.of();
                    case UNIQUE_COLUMNS -> List.of(schema.require(IDENTITY));
                    case MULTISET -> List.of(recordColumn());
                };
        return new SymmetricInput(
                name,
                schema,
                schema.require(RecordLayout.KEY),
                schema.indexOf(KEY_BYTES),
                schema.indexOf(RecordLayout.NULL_KEYS),
                schema.indexOf(RecordLayout.CHANGE),
                identity,
                identityColumns,
                timeToLiveMs);
    }

    /** Returns what rows in state mean, as a text. A restore compares it. */
    public String description() {
        return "rows=%s, key=%s, identity=%s%s"
                .formatted(
                        type.asSummaryString(),
                        key + " as " + key.encodingText(),
                        identity,
                        uniqueKey == null
                                ? ""
                                : " " + uniqueKey + " as " + uniqueKey.encodingText());
    }

    /** Returns a writer of rows for one thread. */
    public StoredRowEncoder encoder() {
        return new StoredRowEncoder(this);
    }
}
