// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;

/** Declarations of a table of (id, k, name, v): how its rows change, and its primary key. */
enum ChangingTable {
    APPENDED("I", ""),
    /** The planner knows no key, so that rows repeat. */
    RETRACTED("I,UB,UA,D", ""),
    /** Of the table's own key, which is not the key of the join. */
    KEYED("I,UB,UA,D", ", PRIMARY KEY (id) NOT ENFORCED"),
    /** Of the join's key. */
    KEYED_BY_JOIN_KEY("I,UB,UA,D", ", PRIMARY KEY (k) NOT ENFORCED");

    private final String mode;
    private final String primaryKey;

    ChangingTable(String mode, String primaryKey) {
        this.mode = mode;
        this.primaryKey = primaryKey;
    }

    /** Rows of (id, k, name, v): inserts, updates and deletes of random rows. */
    private List<Row> changes(Random random) {
        List<Row> changes = new ArrayList<>();
        List<Row> live = new ArrayList<>();
        for (int id = 0; id < 60; id++) {
            boolean keyed = this == KEYED_BY_JOIN_KEY;
            Integer k = keyed ? Integer.valueOf(id) : nullable(random.nextInt(12));
            Row row = Row.of(id, k, k == null ? null : "name " + k % 5, random.nextInt(100));
            changes.add(withKind(RowKind.INSERT, row));
            live.add(row);
            if (this == APPENDED) {
                continue;
            }
            int chosen = random.nextInt(live.size());
            Row old = live.get(chosen);
            int what = random.nextInt(3);
            if (what == 0) {
                changes.add(withKind(RowKind.DELETE, old));
                live.remove(chosen);
            } else if (what == 1) {
                Row updated =
                        Row.of(
                                old.getField(0),
                                old.getField(1),
                                old.getField(2),
                                random.nextInt(100));
                changes.add(withKind(RowKind.UPDATE_BEFORE, old));
                changes.add(withKind(RowKind.UPDATE_AFTER, updated));
                live.set(chosen, updated);
            }
        }
        return changes;
    }

    private static Integer nullable(int value) {
        return value == 0 ? null : Integer.valueOf(value);
    }

    private static Row withKind(RowKind kind, Row row) {
        Row changed = Row.copy(row);
        changed.setKind(kind);
        return changed;
    }

    /** Returns the statement that creates a table with random changes. */
    String table(String name, Random random) {
        return table(name, random, "");
    }

    /**
     * Returns the same with further options.
     *
     * @param options each behind a comma
     */
    String table(String name, Random random, String options) {
        return "CREATE TABLE %s (id INT, k INT, name STRING, v INT%s) WITH ('connector'='values', 'changelog-mode'='%s', 'data-id'='%s'%s)"
                .formatted(
                        name,
                        primaryKey,
                        mode,
                        TestValuesTableFactory.registerData(changes(random)),
                        options);
    }
}
