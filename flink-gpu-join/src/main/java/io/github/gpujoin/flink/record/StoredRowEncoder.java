// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.symmetric.RowIdentity;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Writes internal rows in a {@link StoredRowLayout}. For each row: {@link #accept}, {@link #key},
 * {@link #encode}. Keeps nothing of a row. Not thread-safe.
 */
public final class StoredRowEncoder {

    private final StoredRowLayout layout;
    private final RowKey.Reader key;
    private final RowKey.@Nullable Reader uniqueKey;
    private final boolean isHashed;
    private final boolean hasUniqueBytes;
    private final int nullKeysColumn;
    private final int changeColumn;
    private final int identityColumn;
    private final RowDataSerializer rows;

    private boolean hasKey;
    private long keyInteger;
    private RowKind kind = RowKind.INSERT;
    private BinaryRowData binary;

    /**
     * In place of the null keys of rows that no change refers to, so that partitions share them.
     */
    private long standInKey;

    StoredRowEncoder(StoredRowLayout layout) {
        ChunkSchema schema = layout.schema();
        RowKey unique = layout.uniqueKey();
        this.layout = layout;
        this.key = layout.key().reader();
        this.uniqueKey = unique == null ? null : unique.reader();
        this.isHashed = !layout.key().isExact();
        this.hasUniqueBytes = unique != null && !unique.isExact();
        this.nullKeysColumn = schema.indexOf(RecordLayout.NULL_KEYS);
        this.changeColumn = schema.indexOf(RecordLayout.CHANGE);
        this.identityColumn =
                unique == null || hasUniqueBytes ? -1 : schema.require(StoredRowLayout.IDENTITY);
        this.rows = new RowDataSerializer(layout.type());
    }

    /**
     * Reads the keys of a row.
     *
     * @return false if its join key is null and the row is no result
     * @throws IllegalArgumentException if the row is a change and the input is append-only
     */
    public boolean accept(RowData row) throws Exception {
        kind = row.getRowKind();
        if (changeColumn < 0 && kind != RowKind.INSERT) {
            throw new IllegalArgumentException(
                    "Update or deletion in an append-only input of a join: kind=%s. Declare it with .leftChangelog(...) or .rightChangelog(...)."
                            .formatted(kind));
        }
        hasKey = key.read(row);
        if (!hasKey && !layout.keepsNullKeys()) {
            return false;
        }
        if (uniqueKey != null) {
            uniqueKey.read(row);
        }
        BinaryRowData written = rows.toBinaryRow(row);
        binary = isOneHeapArray(written) ? written : written.copy();
        keyInteger = hasKey ? key.integer() : standIn();
        return true;
    }

    private static boolean isOneHeapArray(BinaryRowData row) {
        return row.getSegments().length == 1 && !row.getSegments()[0].isOffHeap();
    }

    /** Returns the same integer for all changes of a row, so that they stay in order. */
    private long standIn() {
        if (layout.identity() == RowIdentity.APPEND_ONLY) {
            return standInKey++;
        }
        if (layout.identity() == RowIdentity.MULTISET) {
            return hashOfRow();
        }
        if (uniqueKey == null) {
            return 0;
        }
        return hasUniqueBytes
                ? KeyHash.hash(uniqueKey.bytes().array(), uniqueKey.bytes().length())
                : KeyHash.hash(uniqueKey.integer());
    }

    /** Hashes the row as {@link #encode} writes it. */
    private long hashOfRow() {
        binary.setRowKind(RowKind.INSERT);
        int hash = binary.hashCode();
        binary.setRowKind(kind);
        return hash;
    }

    /** Returns the integer of the row's key. */
    public long key() {
        return keyInteger;
    }

    /** Adds the row that was accepted last to a builder that is not full. */
    public void encode(ChunkBuilder target) {
        target.putLong(0, keyInteger);
        binary.setRowKind(RowKind.INSERT);
        try {
            target.addBytes(
                    binary.getSegments()[0].getArray(),
                    binary.getOffset(),
                    binary.getSizeInBytes());
        } finally {
            binary.setRowKind(kind); // the row is its sender's
        }
        if (isHashed) {
            if (hasKey) {
                target.addBytes(key.bytes().array(), 0, key.bytes().length());
            } else {
                target.addNull();
            }
        }
        if (hasUniqueBytes) {
            target.addBytes(uniqueKey.bytes().array(), 0, uniqueKey.bytes().length());
        } else if (identityColumn >= 0) {
            target.putLong(identityColumn, uniqueKey.integer());
        }
        if (nullKeysColumn >= 0) {
            target.putInt(nullKeysColumn, hasKey ? 0 : 1);
        }
        if (changeColumn >= 0) {
            target.putInt(changeColumn, kind.toByteValue());
        }
        target.endRow();
    }
}
