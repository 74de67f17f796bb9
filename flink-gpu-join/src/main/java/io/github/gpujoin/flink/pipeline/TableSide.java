package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.flink.pack.RowDataFields;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.LogicalTypeFamily;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.DataTypeUtils;

/** A table as a side of a join: its rows as a stream of Flink's internal ones, and its keys. */
public final class TableSide {

    private final String side;
    private final DataStream<RowData> stream;
    private final RowType rowType;
    private final List<String> keyColumns = new ArrayList<>();

    private TableSide(String side, DataStream<RowData> stream, RowType rowType) {
        this.side = side;
        this.stream = stream;
        this.rowType = rowType;
    }

    /**
     * @param side for messages
     * @throws IllegalArgumentException where rows of the table are updated or deleted
     */
    public static TableSide of(String side, StreamTableEnvironment tables, Table table) {
        DataType row = table.getResolvedSchema().toSourceRowDataType();
        DataType internal =
                DataTypeUtils.toInternalDataType(DataTypeUtils.removeTimeAttribute(row)).notNull();
        try {
            DataStream<RowData> stream = tables.toDataStream(table, internal);
            return new TableSide(side, stream, (RowType) internal.getLogicalType());
        } catch (TableException e) {
            if (e.getMessage().contains("doesn't support consuming")) {
                throw new IllegalArgumentException(
                        "a table that is joined is insert-only, and rows of this one are updated or"
                                + " deleted: side="
                                + side,
                        e);
            }
            throw e;
        }
    }

    /**
     * @throws IllegalArgumentException where the table has no column of the name
     */
    public void requireColumn(String column) {
        if (rowType.getFieldIndex(column) < 0) {
            throw new IllegalArgumentException(
                    "a table has the column of its key: side="
                            + side
                            + ", column="
                            + column
                            + ", columns="
                            + rowType.getFieldNames());
        }
    }

    /** Adds a key column, which the table has. */
    public void addKey(String column) {
        keyColumns.add(column);
    }

    public DataStream<RowData> stream() {
        return stream;
    }

    public RowType rowType() {
        return rowType;
    }

    public TableKey key() {
        return new TableKey(stream.getType(), keyColumns);
    }

    /** Type of the key: integers of any width are longs, so that they can be compared. */
    public RowTypeInfo keyType() {
        return new RowTypeInfo(
                keyColumns.stream()
                        .map(column -> keyType(rowType.getTypeAt(rowType.getFieldIndex(column))))
                        .toArray(TypeInformation<?>[]::new));
    }

    private static TypeInformation<?> keyType(LogicalType type) {
        return type.is(LogicalTypeFamily.INTEGER_NUMERIC)
                ? TypeInformation.of(Long.class)
                : RowDataFields.typeOf(type);
    }
}
