// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.tpch;

import io.trino.tpch.TpchColumn;
import io.trino.tpch.TpchEntity;
import io.trino.tpch.TpchTable;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/**
 * A table of TPC-H with its rows as dbgen generates them.
 *
 * @param primaryKey columns of the primary key, separated by a comma and a space
 */
record TpchRows<E extends TpchEntity>(TpchTable<E> table, String primaryKey) {

    private static final int CHANGED_PERCENT = 20;
    private static final int DELETED_PERCENT = 5;

    static List<TpchRows<?>> all() {
        return List.of(
                new TpchRows<>(TpchTable.REGION, "r_regionkey"),
                new TpchRows<>(TpchTable.NATION, "n_nationkey"),
                new TpchRows<>(TpchTable.SUPPLIER, "s_suppkey"),
                new TpchRows<>(TpchTable.CUSTOMER, "c_custkey"),
                new TpchRows<>(TpchTable.PART, "p_partkey"),
                new TpchRows<>(TpchTable.PART_SUPPLIER, "ps_partkey, ps_suppkey"),
                new TpchRows<>(TpchTable.ORDERS, "o_orderkey"),
                new TpchRows<>(TpchTable.LINE_ITEM, "l_orderkey, l_linenumber"));
    }

    /** Returns the name in SQL. */
    String name() {
        return table.getTableName();
    }

    /** Returns columns and primary key, as they stand in a table definition. */
    String schema() {
        return table.getColumns().stream()
                .map(column -> column.getColumnName() + " " + type(column) + " NOT NULL")
                .collect(
                        Collectors.joining(
                                ", ", "", ", PRIMARY KEY (" + primaryKey + ") NOT ENFORCED"));
    }

    private static String type(TpchColumn<?> column) {
        return switch (column.getType().getBase()) {
            case INTEGER -> "INT";
            case IDENTIFIER -> "BIGINT";
            case DOUBLE -> "DECIMAL(15, 2)";
            case DATE -> "DATE";
            case VARCHAR -> "STRING";
        };
    }

    /**
     * Returns the rows. At small scale factors dbgen repeats keys of partsupp: the first is valid.
     */
    List<Row> inserts(double scaleFactor) {
        Map<List<Object>, Row> rows = new LinkedHashMap<>();
        for (E entity : table.createGenerator(scaleFactor, 1, 1)) {
            Row row = row(entity);
            rows.putIfAbsent(keyColumns().mapToObj(row::getField).toList(), row);
        }
        return List.copyOf(rows.values());
    }

    private IntStream keyColumns() {
        List<String> key = List.of(primaryKey.split(", "));
        return IntStream.range(0, table.getColumns().size())
                .filter(i -> key.contains(table.getColumns().get(i).getColumnName()));
    }

    private Row row(E entity) {
        return Row.of(
                table.getColumns().stream()
                        .map(
                                column ->
                                        switch (column.getType().getBase()) {
                                            case INTEGER -> (Object) column.getInteger(entity);
                                            case IDENTIFIER -> column.getIdentifier(entity);
                                            case DOUBLE ->
                                                    BigDecimal.valueOf(
                                                            Math.round(
                                                                    100 * column.getDouble(entity)),
                                                            2);
                                            case DATE ->
                                                    LocalDate.ofEpochDay(column.getDate(entity));
                                            case VARCHAR -> column.getString(entity);
                                        })
                        .toArray());
    }

    /**
     * Returns changes: some rows are first inserted with other values, which are updated after the
     * rows of the table are inserted, and some rows are deleted.
     */
    List<Row> changes(double scaleFactor, Random random) {
        List<Row> inserts = inserts(scaleFactor);
        List<Row> changes = new ArrayList<>();
        List<Row> later = new ArrayList<>();
        Row previous = inserts.get(0);
        for (Row row : inserts) {
            int chosen = random.nextInt(100);
            if (chosen < CHANGED_PERCENT) {
                Row stale = withKeyOf(row, previous);
                changes.add(stale);
                later.add(withKind(RowKind.UPDATE_BEFORE, stale));
                later.add(withKind(RowKind.UPDATE_AFTER, row));
            } else {
                changes.add(row);
                if (chosen < CHANGED_PERCENT + DELETED_PERCENT) {
                    later.add(withKind(RowKind.DELETE, row));
                }
            }
            previous = row;
        }
        changes.addAll(later);
        return changes;
    }

    private Row withKeyOf(Row row, Row values) {
        Row stale = Row.copy(values);
        keyColumns().forEach(i -> stale.setField(i, row.getField(i)));
        return stale;
    }

    private static Row withKind(RowKind kind, Row row) {
        Row changed = Row.copy(row);
        changed.setKind(kind);
        return changed;
    }
}
