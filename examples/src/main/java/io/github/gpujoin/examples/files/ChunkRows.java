// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import org.apache.flink.table.data.DecimalData;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.StringData;

/** Converts chunks with all columns of a table to rows with the types of {@link TableColumns}. */
final class ChunkRows {

    private final TblTable table;
    private final ChunkCursor cursor;

    ChunkRows(TblTable table) {
        this.table = table;
        this.cursor = new ChunkCursor(table.projectAll());
    }

    RowData row(Chunk chunk, int row) {
        cursor.at(chunk, row);
        GenericRowData values = new GenericRowData(table.columns().size());
        for (int i = 0; i < values.getArity(); i++) {
            values.setField(i, cursor.isNull(i) ? null : value(table.columns().get(i), i));
        }
        return values;
    }

    private Object value(TblColumn column, int i) {
        return switch (column.type()) {
            case INT32, DATE -> cursor.getInt(i);
            case INT64 -> cursor.getLong(i);
            case HUNDREDTHS ->
                    DecimalData.fromUnscaledLong(
                            cursor.getLong(i), TableColumns.DIGITS, TableColumns.SCALE);
            case TEXT -> StringData.fromString(cursor.getString(i));
        };
    }
}
