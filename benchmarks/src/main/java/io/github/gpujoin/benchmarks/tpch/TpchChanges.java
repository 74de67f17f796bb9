// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.tpch;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.trino.tpch.TpchEntity;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.function.BiConsumer;
import java.util.stream.IntStream;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.runtime.typeutils.RowDataSerializer;
import org.apache.flink.types.RowKind;

/**
 * TPC-H tables as changelogs. First all rows are inserted, those of all tables interleaved, so that
 * each table is complete to the same share at any time. Then some orders are deleted with their
 * lines, and a share of the other rows is updated, interleaved alike. An update is two changes: the
 * row before and the row after.
 *
 * @param scaleFactor of dbgen's tables
 * @param updatedPercent rows of suppliers, customers, orders and lines that are updated once
 * @param deletedPercent orders that are deleted
 * @param seed of the choice of these rows and of their new values
 */
public record TpchChanges(double scaleFactor, int updatedPercent, int deletedPercent, long seed) {

    private static final int PERCENT = 100;

    /** Rows of a table in dbgen's order, and how many of them are still to come. */
    private static final class Rows {

        private final ChangingTable table;
        private final Iterator<? extends TpchEntity> rows;
        private final double count;
        private long done;

        Rows(ChangingTable table, double scaleFactor, long count) {
            this.table = table;
            this.rows = table.rows(scaleFactor).iterator();
            this.count = count;
        }

        double share() {
            return rows.hasNext() ? done / count : Double.POSITIVE_INFINITY;
        }

        GenericRowData next() {
            done++;
            return table.row(rows.next());
        }
    }

    /**
     * Returns the changes of tables.
     *
     * @param subtasks all changes of a row are in the log of one subtask
     */
    List<EventLog> logs(Set<ChangingTable> tables, int subtasks) {
        List<EventLog> logs = IntStream.range(0, subtasks).mapToObj(i -> new EventLog()).toList();
        Map<ChangingTable, RowDataSerializer> serializers = new EnumMap<>(ChangingTable.class);
        tables.forEach(table -> serializers.put(table, new RowDataSerializer(table.type())));
        forEach(
                tables,
                (table, row) ->
                        logs.get((int) (row.getLong(0) % subtasks))
                                .add(table.ordinal(), serializers.get(table).toBinaryRow(row)));
        return logs;
    }

    /** Passes the changes of tables in their order. A row is valid during the call only. */
    void forEach(Set<ChangingTable> tables, BiConsumer<ChangingTable, GenericRowData> changes) {
        Map<ChangingTable, Long> counts = new EnumMap<>(ChangingTable.class);
        for (ChangingTable table : tables) {
            long count = 0;
            for (TpchEntity ignored : table.rows(scaleFactor)) {
                count++;
            }
            counts.put(table, count);
        }
        interleaved(counts, changes);
        // One for each table, so that its changes do not depend on which other tables are read.
        Map<ChangingTable, Random> randoms = new EnumMap<>(ChangingTable.class);
        tables.forEach(table -> randoms.put(table, new Random(seed + table.ordinal())));
        interleaved(counts, (table, row) -> change(table, row, randoms.get(table), changes));
    }

    private void interleaved(
            Map<ChangingTable, Long> counts, BiConsumer<ChangingTable, GenericRowData> sink) {
        List<Rows> all =
                counts.entrySet().stream()
                        .map(entry -> new Rows(entry.getKey(), scaleFactor, entry.getValue()))
                        .toList();
        while (true) {
            Rows next = all.get(0);
            for (Rows rows : all) {
                next = rows.share() < next.share() ? rows : next;
            }
            if (!next.rows.hasNext()) {
                return;
            }
            sink.accept(next.table, next.next());
        }
    }

    private void change(
            ChangingTable table,
            GenericRowData row,
            Random random,
            BiConsumer<ChangingTable, GenericRowData> changes) {
        if (table.isDeleted() && isDeletedOrder(row.getLong(0))) {
            row.setRowKind(RowKind.DELETE);
            changes.accept(table, row);
        } else if (table.isUpdated() && random.nextInt(PERCENT) < updatedPercent) {
            row.setRowKind(RowKind.UPDATE_BEFORE);
            changes.accept(table, row);
            table.update(row, random);
            row.setRowKind(RowKind.UPDATE_AFTER);
            changes.accept(table, row);
        }
    }

    private boolean isDeletedOrder(long orderKey) {
        return new Random(seed ^ orderKey).nextInt(PERCENT) < deletedPercent;
    }
}
