// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import static org.apache.flink.table.api.Expressions.$;

import io.github.gpujoin.flink.record.ColumnsKey;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.InsertConflictStrategy;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableException;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.catalog.Column;
import org.apache.flink.table.connector.ChangelogMode;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.table.types.utils.DataTypeUtils;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * A table as a side of a join: its rows as a stream of Flink's internal rows, and its key columns.
 */
public final class TableInput {

    /** Name of the build table's side. */
    public static final String BUILD = "build";

    /** Name of the probe table's side. */
    public static final String PROBE = "probe";

    /** A table that is converted to a stream once the key of the join is known. */
    private record Changelog(StreamTableEnvironment tables, Table table, DataType row) {}

    /** A converted changelog, and what the conversion depends on. */
    private record Changes(DataStream<RowData> stream, List<String> keyColumns, boolean nullSafe) {}

    private final String side;
    private final RowType rowType;

    /** Null if the table is a changelog. */
    private final DataStream<RowData> stream;

    /** Null if the table is insert-only. */
    private final @Nullable Changelog changelog;

    /** Null if the table has no rowtime attribute. */
    private final String rowtimeColumn;

    private final List<String> keyColumns = new ArrayList<>();

    /** The converted changelog; null before the first call of {@link #changes}. */
    private @Nullable Changes converted;

    private TableInput(
            String side,
            Table table,
            RowType rowType,
            DataStream<RowData> stream,
            Changelog changelog) {
        this.side = side;
        this.rowtimeColumn = rowtimeColumn(table);
        this.rowType = rowType;
        this.stream = stream;
        this.changelog = changelog;
    }

    /**
     * Returns an insert-only table.
     *
     * @param side {@link #BUILD} or {@link #PROBE}
     * @throws IllegalArgumentException if the table has updates or deletes
     */
    public static TableInput of(String side, StreamTableEnvironment tables, Table table) {
        DataType row = table.getResolvedSchema().toSourceRowDataType();
        DataType internal =
                DataTypeUtils.toInternalDataType(DataTypeUtils.removeTimeAttribute(row)).notNull();
        try {
            DataStream<RowData> stream =
                    TableConversion.uncopied(
                            tables.toDataStream(table, withNullableFields(internal)));
            // The table's own type, in which fields are NOT NULL.
            DataStream<RowData> typed = UncopiedType.stream(stream, ExternalTypeInfo.of(internal));
            return new TableInput(side, table, (RowType) internal.getLogicalType(), typed, null);
        } catch (TableException e) {
            if (e.getMessage().contains("doesn't support consuming")) {
                String remedy =
                        side.equals(BUILD)
                                ? "Use .buildChangelog(table)."
                                : "Make it the build table, by .buildChangelog(table), or join it in"
                                        + " SQL.";
                throw new IllegalArgumentException(
                        "Rows of the %s table are updated or deleted. %s".formatted(side, remedy),
                        e);
            }
            throw e;
        }
    }

    /** Keeps the planner from checking again, in an operator more, what the table's type says. */
    private static DataType withNullableFields(DataType row) {
        DataTypes.Field[] fields =
                DataType.getFields(row).stream()
                        .map(f -> DataTypes.FIELD(f.getName(), f.getDataType().nullable()))
                        .toArray(DataTypes.Field[]::new);
        return DataTypeUtils.toInternalDataType(DataTypes.ROW(fields).notNull());
    }

    /**
     * Returns a table that may have updates and deletes.
     *
     * @param side {@link #BUILD} or {@link #PROBE}
     */
    public static TableInput ofChangelog(String side, StreamTableEnvironment tables, Table table) {
        DataType row =
                DataTypeUtils.removeTimeAttribute(table.getResolvedSchema().toSourceRowDataType())
                        .notNull();
        RowType rowType = (RowType) row.getLogicalType();
        return new TableInput(side, table, rowType, null, new Changelog(tables, table, row));
    }

    private static String rowtimeColumn(Table table) {
        return table.getResolvedSchema().getColumns().stream()
                .filter(
                        column ->
                                LogicalTypeChecks.isRowtimeAttribute(
                                        column.getDataType().getLogicalType()))
                .map(Column::getName)
                .findFirst()
                .orElse(null);
    }

    /** Returns the column that is the table's rowtime attribute, or null if none is. */
    public @Nullable String rowtimeColumn() {
        return rowtimeColumn;
    }

    public boolean isChangelog() {
        return changelog != null;
    }

    /**
     * Returns the changes of a changelog, except those of rows with a null in the join key. {@link
     * #changeOf} returns the effect of each. One subtask emits all changes of a key, in order. If
     * the upsert key of the query is another one, changes of a key could arrive from several
     * subtasks out of order; the planner then adds Flink's upsert materializer.
     *
     * <p>Converts the table once for the same key: each conversion adds operators to the job, also
     * if the result is not used.
     *
     * @param nullSafe whether the join treats nulls as equal
     * @throws IllegalArgumentException if a join key may have several rows, or may be null in a
     *     null-safe join
     */
    public DataStream<RowData> changes(boolean nullSafe) {
        if (converted == null
                || !converted.keyColumns.equals(keyColumns)
                || converted.nullSafe != nullSafe) {
            converted = new Changes(convert(nullSafe), List.copyOf(keyColumns), nullSafe);
        }
        return converted.stream;
    }

    private DataStream<RowData> convert(boolean nullSafe) {
        requireRowForEachKey();
        Table rows = changelog.table;
        Schema.Builder schema = Schema.newBuilder();
        for (DataTypes.Field field : DataType.getFields(changelog.row)) {
            String name = field.getName();
            DataType type = field.getDataType();
            boolean isKey = keyColumns.contains(name);
            if (isKey && type.getLogicalType().isNullable()) {
                if (nullSafe) {
                    throw new IllegalArgumentException(
                            "A key column of the changelog table may be null, and the join is"
                                    + " null-safe: column=%s, type=%s. Use COALESCE(column, value) in both tables."
                                            .formatted(name, type));
                }
                rows = rows.filter($(name).isNotNull());
            }
            schema.column(name, isKey ? type.notNull() : type);
        }
        schema.primaryKey(keyColumns.stream().distinct().toList());
        DataStream<Row> changes =
                changelog.tables.toChangelogStream(
                        rows,
                        schema.build(),
                        ChangelogMode.upsert(false),
                        InsertConflictStrategy.deduplicate());
        // The same parallelism keeps the edge forward, and so the order of changes of a key.
        return changes.map(new InternalRows(changelog.row))
                .returns(InternalTypeInfo.of(rowType))
                .setParallelism(changes.getParallelism());
    }

    /**
     * Returns the effect of a change on the row of its key. If the join key has more columns than
     * the upsert key of the table, an update may move a row to another key, so the change deletes
     * the old row.
     */
    public static RowKind changeOf(RowData row) {
        RowKind kind = row.getRowKind();
        return kind == RowKind.UPDATE_BEFORE ? RowKind.DELETE : kind;
    }

    private void requireRowForEachKey() {
        changelog
                .table
                .getResolvedSchema()
                .getPrimaryKey()
                .filter(primary -> !keyColumns.containsAll(primary.getColumns()))
                .ifPresent(
                        primary -> {
                            throw new IllegalArgumentException(
                                    "The changing table has several rows for a key of the join:"
                                            + " primaryKey=%s, key=%s. Add .on(...) for the primary key."
                                                    .formatted(primary.getColumns(), keyColumns));
                        });
    }

    /**
     * Checks that the table has a column.
     *
     * @param other table of the join
     * @throws IllegalArgumentException if the column is missing
     */
    public void requireColumn(String column, TableInput other) {
        if (rowType.getFieldIndex(column) >= 0) {
            return;
        }
        String remedy =
                other.rowType.getFieldIndex(column) < 0
                        ? "Its columns are " + rowType.getFieldNames() + "."
                        : "The %s table has one: the order is .on(probeColumn, buildColumn)."
                                .formatted(other.side);
        throw new IllegalArgumentException(
                "The %s table has no column '%s'. %s".formatted(side, column, remedy));
    }

    /** Adds a key column, which must exist. */
    public void addKey(String column) {
        keyColumns.add(column);
    }

    public List<String> keyColumns() {
        return keyColumns;
    }

    /**
     * Returns the rows of a bounded, insert-only table.
     *
     * @throws IllegalArgumentException if a source of the table is unbounded
     */
    public DataStream<RowData> boundedStream() {
        BoundedInput.requireForLoad(
                side, stream, "Use a bounded table, or .buildChangelog(table).");
        return stream;
    }

    /** Returns the rows of an insert-only table. */
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
