// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.record.RowKey;
import io.github.gpujoin.flink.record.StoredRowEncoder;
import io.github.gpujoin.flink.record.StoredRowLayout;
import java.util.ArrayList;
import java.util.Collections;
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

/**
 * A regular join of rows (key, id, text) with (key, id, text), whose ids are unique where the
 * identity says so.
 *
 * @param hasTextKeys whether the key is a text, so that engines compare hashes and bytes
 */
record RegularJoinShape(
        BulkJoinKind kind,
        RowIdentity left,
        RowIdentity right,
        boolean hasTextKeys,
        RowPairCondition.@Nullable Factory condition,
        long leftTtlMs,
        long rightTtlMs,
        SymmetricJoinFactory engine,
        long spillDelayMs) {

    static final int PARTITIONS = 8;
    static final int KEY = 0;
    static final int ID = 1;

    RowIdentity identity(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    RowType type() {
        LogicalType text = new VarCharType(VarCharType.MAX_LENGTH);
        return RowType.of(
                new LogicalType[] {hasTextKeys ? text : new IntType(), new IntType(), text},
                new String[] {"key", "id", "note"});
    }

    RowType resultType() {
        RowType type = type();
        if (!kind.returnsPairs()) {
            return type;
        }
        List<LogicalType> columns = new ArrayList<>(type.getChildren());
        columns.addAll(type.getChildren());
        return RowType.of(columns.toArray(LogicalType[]::new));
    }

    StoredRowLayout layout(JoinSide side) {
        RowIdentity identity = identity(side);
        RowKey unique =
                identity == RowIdentity.UNIQUE_COLUMNS
                        ? RowKey.of(type(), List.of(ID), List.of(false))
                        : null;
        return new StoredRowLayout(
                type(),
                RowKey.of(type(), List.of(KEY), List.of(true)),
                identity,
                unique,
                kind.keepsUnmatched(side));
    }

    SymmetricJoinOperatorFactory<RowData> factory() {
        StoredRowLayout leftRows = layout(JoinSide.LEFT);
        StoredRowLayout rightRows = layout(JoinSide.RIGHT);
        RowType type = type();
        boolean returnsPairs = kind.returnsPairs();
        return new SymmetricJoinOperatorFactory<>(
                new SymmetricJoinSettings(
                        new SymmetricJoinSpec(
                                leftRows.input("left", leftTtlMs),
                                rightRows.input("right", rightTtlMs),
                                kind),
                        new SymmetricJoinOpener(engine, Long.MAX_VALUE),
                        spillDelayMs,
                        PARTITIONS,
                        condition,
                        3,
                        3,
                        Map.of(
                                "kind", kind.name(),
                                "left input", leftRows.description(),
                                "right input", rightRows.description())),
                rows -> new JoinedRowEmitter(type, type, returnsPairs));
    }

    RowData row(RowKind kind, @Nullable Integer key, int id, String note) {
        Object keyValue = key;
        if (hasTextKeys && key != null) {
            keyValue = StringData.fromString("key " + key);
        }
        GenericRowData row = GenericRowData.of(keyValue, id, StringData.fromString(note));
        row.setRowKind(kind);
        return row;
    }

    /** Packs rows into a chunk of each of their partitions. Drops rows that no result has. */
    List<Chunk> chunks(JoinSide side, List<RowData> rows) throws Exception {
        StoredRowLayout layout = layout(side);
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
                (partition, rowsOfIt) ->
                        chunks.add(rowsOfIt.seal(side.ordinal(), partition, 0, 0)));
        return chunks;
    }

    Chunk chunk(JoinSide side, RowData row) throws Exception {
        return chunks(side, Collections.singletonList(row)).get(0);
    }
}
