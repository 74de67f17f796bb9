// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.flink.engine.SymmetricJoinOpener;
import io.github.gpujoin.flink.record.StoredRowLayout;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
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
        List<SymmetricJoinFactory> engines,
        long spillDelayMs)
        implements JoinShape {

    @Override
    public RowIdentity identity(int input) {
        return input == 0 ? left : right;
    }

    @Override
    public RowType resultType() {
        RowType type = type();
        if (!kind.returnsPairs()) {
            return type;
        }
        List<LogicalType> columns = new ArrayList<>(type.getChildren());
        columns.addAll(type.getChildren());
        return RowType.of(columns.toArray(LogicalType[]::new));
    }

    @Override
    public boolean keepsNullKeys(int input) {
        return kind.keepsUnmatched(JoinSide.values()[input]);
    }

    @Override
    public SymmetricJoinOperatorFactory<RowData> factory() {
        StoredRowLayout leftRows = layout(0);
        StoredRowLayout rightRows = layout(1);
        RowType type = type();
        boolean returnsPairs = kind.returnsPairs();
        return new SymmetricJoinOperatorFactory<>(
                new SymmetricJoinSettings(
                        new TwoInputPlan(
                                new SymmetricJoinSpec(
                                        leftRows.input("left", leftTtlMs),
                                        rightRows.input("right", rightTtlMs),
                                        kind),
                                condition,
                                3,
                                3),
                        new SymmetricJoinOpener(engines, Long.MAX_VALUE),
                        spillDelayMs,
                        PARTITIONS,
                        Map.of(
                                "kind", kind.name(),
                                "left input", leftRows.description(),
                                "right input", rightRows.description())),
                rows -> new JoinedRowEmitter(returnsPairs ? List.of(type, type) : List.of(type)));
    }

    List<Chunk> chunks(JoinSide side, List<RowData> rows) throws Exception {
        return chunks(side.ordinal(), rows);
    }

    Chunk chunk(JoinSide side, RowData row) throws Exception {
        return chunks(side, Collections.singletonList(row)).get(0);
    }
}
