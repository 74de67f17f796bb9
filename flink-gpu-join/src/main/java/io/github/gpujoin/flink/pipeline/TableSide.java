package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.flink.pack.ColumnsKey;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.catalog.ResolvedSchema;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.types.Row;

/** A table as a side of a join: its rows as a stream of Flink's internal ones, and its keys. */
public final class TableSide {

    private final String side;
    private final DataStream<RowData> stream;
    private final RowType rowType;

    /** Null where rows are inserted only. */
    private final ResolvedSchema changelog;

    private final List<String> keyColumns = new ArrayList<>();

    private TableSide(
            String side, DataStream<RowData> stream, RowType rowType, ResolvedSchema changelog) {
        this.side = side;
        this.stream = stream;
        this.rowType = rowType;
        this.changelog = changelog;
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
            return new TableSide(side, stream, (RowType) internal.getLogicalType(), null);
        } catch (TableException e) {
            if (e.getMessage().contains("doesn't support consuming")) {
                throw new IllegalArgumentException(
                        "a table that is joined is insert-only, but for .buildChangelog(table), and"
                                + " rows of this one are updated or deleted: side="
                                + side,
                        e);
            }
            throw e;
        }
    }

    /**
     * A table whose rows may be updated and deleted.
     *
     * @param side for messages
     */
    public static TableSide ofChangelog(String side, StreamTableEnvironment tables, Table table) {
        ResolvedSchema schema = table.getResolvedSchema();
        DataType row = DataTypeUtils.removeTimeAttribute(schema.toSourceRowDataType()).notNull();
        RowType rowType = (RowType) row.getLogicalType();
        DataStream<Row> changes = tables.toChangelogStream(table);
        // Changes of a key stay in their order where nothing is sent on.
        DataStream<RowData> stream =
                changes.map(new InternalRows(row))
                        .returns(InternalTypeInfo.of(rowType))
                        .setParallelism(changes.getParallelism());
        return new TableSide(side, stream, rowType, schema);
    }

    public boolean isChangelog() {
        return changelog != null;
    }

    /**
     * @throws IllegalArgumentException where a key of the join may have several rows
     */
    public void requireRowForEachKey() {
        changelog
                .getPrimaryKey()
                .filter(primary -> !keyColumns.containsAll(primary.getColumns()))
                .ifPresent(
                        primary -> {
                            throw new IllegalArgumentException(
                                    "a table that changes has one row for each key of the join, which"
                                            + " its primary key is part of: side="
                                            + side
                                            + ", primaryKey="
                                            + primary.getColumns()
                                            + ", key="
                                            + keyColumns);
                        });
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

    public List<String> keyColumns() {
        return keyColumns;
    }

    public DataStream<RowData> stream() {
        return stream;
    }

    public RowType rowType() {
        return rowType;
    }

    public ColumnsKey<RowData> key() {
        return new ColumnsKey<>(stream.getType(), keyColumns);
    }
}
