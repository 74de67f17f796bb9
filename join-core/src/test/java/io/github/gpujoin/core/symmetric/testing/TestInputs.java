// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Inputs of symmetric joins, and their rows as objects. */
public final class TestInputs {

    public static final int ID = 2;
    public static final int VALUE = 3;
    public static final int CHANGE = 4;

    private static final int KEY = 0;
    private static final int NULL_KEY = 1;
    private static final int TEXT = 5;
    private static final int KEY_BYTES = 6;

    /** Few enough for many keys to share a hash. */
    private static final int HASHES = 3;

    public static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64),
                    Column.of("null_key", ColumnType.INT32),
                    Column.of("id", ColumnType.INT32),
                    Column.of("value", ColumnType.INT32),
                    Column.of("change", ColumnType.INT32),
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("key_bytes", ColumnType.BYTES));

    /** Rejects a third of all pairs. */
    public static final MatchCondition SOME =
            (left, leftRow, right, rightRow) ->
                    (left.getInt(VALUE, leftRow) + right.getInt(VALUE, rightRow)) % 3 != 0;

    private TestInputs() {}

    /**
     * A row.
     *
     * @param key null for a null key
     */
    public record Row(@Nullable Long key, int id, int value, @Nullable String text) {

        public Row(long key, int id) {
            this(key, id, 0, null);
        }
    }

    /** A row of a changelog. */
    public record Change(ChangeKind kind, Row row) {}

    public static SymmetricInput input(String name, RowIdentity identity, boolean isHashed) {
        return input(name, identity, isHashed, SymmetricInput.FOREVER);
    }

    public static SymmetricInput input(
            String name, RowIdentity identity, boolean isHashed, long timeToLiveMs) {
        List<Integer> identityColumns =
                switch (identity) {
                    case UNIQUE_COLUMNS -> List.of(ID);
                    case MULTISET -> List.of(ID, VALUE, TEXT);
                    default -> List.of();
                };
        return new SymmetricInput(
                name,
                SCHEMA,
                KEY,
                isHashed ? KEY_BYTES : SymmetricInput.NONE,
                NULL_KEY,
                identity == RowIdentity.APPEND_ONLY ? SymmetricInput.NONE : CHANGE,
                identity,
                identityColumns,
                timeToLiveMs);
    }

    /** Returns a chunk of changes of an input. */
    public static Chunk chunk(SymmetricInput input, int partition, List<Change> changes) {
        int rowBytes = SCHEMA.fixedRowBytes() + 8 * SCHEMA.variableWidthColumnCount();
        ChunkBuilder builder =
                new ChunkBuilder(SCHEMA, Math.max(1, changes.size() * (rowBytes + 64)));
        for (Change change : changes) {
            addRow(builder, input, change);
        }
        return builder.seal(ChunkDescriptor.FACTS, partition, 0, 0);
    }

    /** Returns additions that alternate between a key and other ones, so that indexes grow. */
    public static List<Change> growing(int rowsOfKey, long key) {
        List<Change> changes = new ArrayList<>();
        for (int id = 0; id < rowsOfKey; id++) {
            changes.add(new Change(ChangeKind.INSERT, new Row(key, id)));
            changes.add(new Change(ChangeKind.INSERT, new Row(key + 1 + id, id)));
        }
        return changes;
    }

    public static void addRow(ChunkBuilder builder, SymmetricInput input, Change change) {
        Row row = change.row;
        long key = row.key == null ? 0 : row.key;
        byte[] keyBytes = ByteBuffer.allocate(Long.BYTES).putLong(key).array();
        TestChunks.addRow(
                builder,
                input.isHashed() ? key % HASHES : key,
                row.key == null ? 1 : 0,
                row.id,
                row.value,
                (int) change.kind.code(),
                row.text,
                keyBytes);
    }

    /** Returns a row of a chunk. */
    public static Row row(Chunk chunk, int row) {
        ChunkCursor cursor = new ChunkCursor(SCHEMA).at(chunk, row);
        return new Row(
                cursor.getInt(NULL_KEY) != 0
                        ? null
                        : ByteBuffer.wrap(cursor.getBytes(KEY_BYTES)).getLong(),
                cursor.getInt(ID),
                cursor.getInt(VALUE),
                cursor.getString(TEXT));
    }

    /** Whether {@link #SOME} accepts a pair. */
    public static boolean isAccepted(Row left, Row right) {
        return (left.value + right.value) % 3 != 0;
    }
}
