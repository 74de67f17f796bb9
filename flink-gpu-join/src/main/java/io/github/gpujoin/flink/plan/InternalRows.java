// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import org.apache.flink.api.common.functions.OpenContext;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.conversion.DataStructureConverter;
import org.apache.flink.table.data.conversion.DataStructureConverters;
import org.apache.flink.table.types.DataType;
import org.apache.flink.types.Row;

/** Converts a table's Rows to Flink's internal rows of the same kind of change. */
final class InternalRows extends RichMapFunction<Row, RowData> {

    private static final long serialVersionUID = 1L;

    private final DataType type;
    private transient DataStructureConverter<Object, Object> converter;

    InternalRows(DataType type) {
        this.type = type;
    }

    @Override
    public void open(OpenContext context) {
        converter = DataStructureConverters.getConverter(type);
        converter.open(getRuntimeContext().getUserCodeClassLoader());
    }

    @Override
    public RowData map(Row row) {
        return (RowData) converter.toInternal(row);
    }
}
