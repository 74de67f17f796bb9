// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowEncoder;
import io.github.gpujoin.flink.record.StoredRowLayout;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** A join of rows (key, id, text), whose ids are unique where the identity says so. */
interface JoinShape {

    int PARTITIONS = 8;
    int KEY = 0;
    int ID = 1;

    /** Whether the key is a text, so that engines compare hashes and bytes. */
    boolean hasTextKeys();

    RowIdentity identity(int input);

    /** Whether rows of an input without a match are results. */
    boolean keepsNullKeys(int input);

    RowType resultType();

    SymmetricJoinOperatorFactory<RowData> factory();

    default RowType type() {
        LogicalType text = new VarCharType(VarCharType.MAX_LENGTH);
        return RowType.of(
                new LogicalType[] {hasTextKeys() ? text : new IntType(), new IntType(), text},
                new String[] {"key", "id", "note"});
    }

    default StoredRowLayout layout(int input) {
        RowIdentity identity = identity(input);
        RowKey unique =
                identity == RowIdentity.UNIQUE_COLUMNS
                        ? RowKey.of(type(), List.of(ID), List.of(false))
                        : null;
        return new StoredRowLayout(
                type(),
                RowKey.of(type(), List.of(KEY), List.of(true)),
                identity,
                unique,
                keepsNullKeys(input));
    }

    default RowData row(RowKind kind, @Nullable Integer key, int id, String note) {
        Object keyValue = key;
        if (hasTextKeys() && key != null) {
            keyValue = StringData.fromString("key " + key);
        }
        GenericRowData row = GenericRowData.of(keyValue, id, StringData.fromString(note));
        row.setRowKind(kind);
        return row;
    }

    /** Packs rows into a chunk of each of their partitions. Drops rows that no result has. */
    default List<Chunk> chunks(int input, List<RowData> rows) throws Exception {
        StoredRowLayout layout = layout(input);
        StoredRowEncoder encoder = layout.encoder();
        Map<Integer, ChunkBuilder> builders = new LinkedHashMap<>();
        for (RowData row : rows) {
            if (encoder.accept(row)) {
                int partition = KeyHash.partition(KeyHash.hash(encoder.key()), PARTITIONS);
                encoder.encode(
                        builders.computeIfAbsent(
                                partition, p -> new ChunkBuilder(layout.schema(), 1 << 20)));
            }
        }
        List<Chunk> chunks = new ArrayList<>();
        builders.forEach(
                (partition, rowsOfIt) -> chunks.add(rowsOfIt.seal(input, partition, 0, 0)));
        return chunks;
    }
}
