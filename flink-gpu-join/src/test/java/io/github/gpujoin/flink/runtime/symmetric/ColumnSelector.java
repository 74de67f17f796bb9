// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.RowIdentity;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.keyselector.RowDataKeySelector;
import org.apache.flink.table.runtime.operators.join.stream.utils.JoinInputSideSpec;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;

/** Selects one column of a row as its key. */
final class ColumnSelector implements RowDataKeySelector {

    private static final long serialVersionUID = 1L;

    private final RowType type;
    private final int column;

    ColumnSelector(RowType type, int column) {
        this.type = type;
        this.column = column;
    }

    @Override
    public RowData getKey(RowData row) {
        LogicalType field = type.getTypeAt(column);
        GenericRowData key =
                GenericRowData.of(RowData.createFieldGetter(field, column).getFieldOrNull(row));
        return new RowDataSerializer(field).toBinaryRow(key).copy();
    }

    @Override
    public InternalTypeInfo<RowData> getProducedType() {
        return InternalTypeInfo.ofFields(type.getTypeAt(column));
    }

    @Override
    public RowDataKeySelector copy() {
        return this;
    }

    /** Returns how Flink stores rows of an input. */
    static JoinInputSideSpec side(RowIdentity identity, InternalTypeInfo<RowData> type) {
        int unique = identity == RowIdentity.JOIN_KEY ? JoinShape.KEY : JoinShape.ID;
        ColumnSelector selector = new ColumnSelector(type.toRowType(), unique);
        return switch (identity) {
            case APPEND_ONLY, MULTISET -> JoinInputSideSpec.withoutUniqueKey();
            case JOIN_KEY ->
                    JoinInputSideSpec.withUniqueKeyContainedByJoinKey(
                            selector.getProducedType(), selector);
            case UNIQUE_COLUMNS ->
                    JoinInputSideSpec.withUniqueKey(selector.getProducedType(), selector);
        };
    }
}
