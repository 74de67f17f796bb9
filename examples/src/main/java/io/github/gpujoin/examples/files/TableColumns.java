// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import java.util.List;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.DateType;
import org.apache.flink.table.types.logical.DecimalType;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.VarCharType;

/** Maps the columns of a benchmark table to Flink's row types. */
final class TableColumns {

    /** Precision of an amount of money, including {@link #SCALE} fractional digits. */
    static final int DIGITS = 15;

    static final int SCALE = 2;

    private TableColumns() {}

    static RowType rowType(TblTable table) {
        List<RowType.RowField> fields =
                table.columns().stream()
                        .map(column -> new RowType.RowField(column.name(), type(column)))
                        .toList();
        return new RowType(false, fields);
    }

    private static LogicalType type(TblColumn column) {
        LogicalType type =
                switch (column.type()) {
                    case INT32 -> new IntType();
                    case INT64 -> new BigIntType();
                    case HUNDREDTHS -> new DecimalType(DIGITS, SCALE);
                    case DATE -> new DateType();
                    case TEXT -> VarCharType.STRING_TYPE;
                };
        return type.copy(column.nullable());
    }
}
