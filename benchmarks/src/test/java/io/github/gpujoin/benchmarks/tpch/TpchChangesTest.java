// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.tpch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.examples.data.TpchTables;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import io.trino.tpch.TpchEntity;
import java.time.LocalDate;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class TpchChangesTest {

    private static final double SCALE_FACTOR = 0.002;
    private static final Set<ChangingTable> ALL = EnumSet.allOf(ChangingTable.class);

    private static TpchChanges changes(long seed) {
        return new TpchChanges(SCALE_FACTOR, 10, 5, seed);
    }

    private static List<String> texts(TpchChanges changes) {
        List<String> texts = new ArrayList<>();
        changes.forEach(ALL, (table, row) -> texts.add(table + " " + row));
        return texts;
    }

    @Test
    void shouldDependOnTheSeedOnly() {
        assertThat(texts(changes(1))).isEqualTo(texts(changes(1))).isNotEqualTo(texts(changes(2)));
    }

    @Test
    void shouldNotDependOnTheOtherTables() {
        List<String> alone = new ArrayList<>();
        List<String> among = new ArrayList<>();
        changes(1).forEach(EnumSet.of(ChangingTable.ORDERS), (t, row) -> alone.add(row.toString()));
        changes(1)
                .forEach(
                        ALL,
                        (table, row) -> {
                            if (table == ChangingTable.ORDERS) {
                                among.add(row.toString());
                            }
                        });
        assertThat(among).isEqualTo(alone);
    }

    /** Every change refers to a row as the changes before left it. */
    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldRetractOnlyRowsThatExist(long seed) {
        Map<ChangingTable, Set<String>> tables = new EnumMap<>(ChangingTable.class);
        ALL.forEach(table -> tables.put(table, new HashSet<>()));
        changes(seed)
                .forEach(
                        ALL,
                        (table, row) -> {
                            RowKind kind = row.getRowKind();
                            boolean isAdded =
                                    kind == RowKind.INSERT || kind == RowKind.UPDATE_AFTER;
                            row.setRowKind(RowKind.INSERT);
                            Set<String> rows = tables.get(table);
                            assertThat(
                                            isAdded
                                                    ? rows.add(row.toString())
                                                    : rows.remove(row.toString()))
                                    .as("%s %s", kind, row)
                                    .isTrue();
                        });
        assertThat(tables.get(ChangingTable.NATION)).hasSize(25);
        assertThat(tables.get(ChangingTable.CUSTOMER)).hasSize(300);
        assertThat(tables.get(ChangingTable.ORDERS).size()).isBetween(2800, 2900);
    }

    @Test
    void shouldDeleteOrdersWithTheirLines() {
        Set<Long> deletedOrders = new HashSet<>();
        Set<Long> ordersOfDeletedLines = new HashSet<>();
        Set<Long> ordersOfKeptLines = new HashSet<>();
        changes(1)
                .forEach(
                        ALL,
                        (table, row) -> {
                            boolean isDeleted = row.getRowKind() == RowKind.DELETE;
                            if (table == ChangingTable.ORDERS && isDeleted) {
                                deletedOrders.add(row.getLong(0));
                            } else if (table == ChangingTable.LINEITEM && isDeleted) {
                                ordersOfDeletedLines.add(row.getLong(0));
                            } else if (table == ChangingTable.LINEITEM
                                    && row.getRowKind() == RowKind.UPDATE_AFTER) {
                                ordersOfKeptLines.add(row.getLong(0));
                            }
                        });
        assertThat(deletedOrders.size()).isCloseTo(150, within(30));
        assertThat(ordersOfDeletedLines).isEqualTo(deletedOrders);
        assertThat(ordersOfKeptLines).isNotEmpty().doesNotContainAnyElementsOf(deletedOrders);
    }

    /** While rows are inserted, all tables of some size are complete to the same share. */
    @Test
    void shouldInterleaveTables() {
        List<ChangingTable> inserts = new ArrayList<>();
        changes(1)
                .forEach(
                        ALL,
                        (table, row) -> {
                            if (row.getRowKind() == RowKind.INSERT) {
                                inserts.add(table);
                            }
                        });
        List<ChangingTable> half = inserts.subList(0, inserts.size() / 2);
        for (ChangingTable table : EnumSet.of(ChangingTable.CUSTOMER, ChangingTable.ORDERS)) {
            long all = inserts.stream().filter(table::equals).count();
            assertThat(half.stream().filter(table::equals).count())
                    .as(table.label())
                    .isCloseTo(all / 2, within(2L));
        }
    }

    @Test
    void shouldDivideChangesAmongSubtasks() {
        List<EventLog> logs = changes(1).logs(ALL, 2);
        long all = logs.stream().mapToLong(EventLog::rowCount).sum();
        assertThat(all).isEqualTo(texts(changes(1)).size());
        assertThat(logs)
                .allSatisfy(log -> assertThat(log.rowCount()).isCloseTo(all / 2, within(all / 20)));
    }

    /** The generator's own text of a row is the other way to its columns. */
    @ParameterizedTest
    @EnumSource(ChangingTable.class)
    void shouldInsertTheRowsOfDbgen(ChangingTable table) {
        TblTable all =
                TpchTables.ALL.stream()
                        .filter(each -> each.name().equals(table.label()))
                        .findFirst()
                        .orElseThrow();
        List<String> names = all.columns().stream().map(TblColumn::name).toList();
        Iterator<? extends TpchEntity> rows = table.rows(SCALE_FACTOR).iterator();
        for (int i = 0; i < 5; i++) {
            TpchEntity entity = rows.next();
            List<String> fields = List.of(entity.toLine().split("\\|"));
            GenericRowData row = table.row(entity);
            assertThat(IntStream.range(0, row.getArity()).mapToObj(c -> text(table, row, c)))
                    .isEqualTo(
                            table.columns().stream()
                                    .map(column -> column.substring(0, column.indexOf(' ')))
                                    .map(name -> fields.get(names.indexOf(name)))
                                    .toList());
        }
    }

    private static String text(ChangingTable table, GenericRowData row, int column) {
        return table.columns().get(column).endsWith("DATE")
                ? LocalDate.ofEpochDay(row.getInt(column)).toString()
                : row.getField(column).toString();
    }
}
