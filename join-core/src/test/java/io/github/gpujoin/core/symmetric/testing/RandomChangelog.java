// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Change;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;

/**
 * A random changelog of one input, and the rows that it leaves. Half of the rows have the same key,
 * some have a null key, and a multiset has many equal rows.
 */
public final class RandomChangelog {

    private static final int KEYS = 12;

    private final RowIdentity identity;
    private final Random random;
    private final List<Row> live = new ArrayList<>();
    private int nextId;

    public RandomChangelog(RowIdentity identity, Random random) {
        this.identity = identity;
        this.random = random;
    }

    /** Returns the rows that all changes so far leave. */
    public List<Row> live() {
        return live;
    }

    /** Returns the next changes: an insertion, a deletion, or both changes of an update. */
    public List<Change> next() {
        if (identity == RowIdentity.APPEND_ONLY) {
            return List.of(insert(ChangeKind.INSERT, newRow()));
        }
        Row added = newRow();
        Row old = live.isEmpty() ? null : live.get(random.nextInt(live.size()));
        if (identity == RowIdentity.JOIN_KEY) {
            Long key = added.key();
            old =
                    live.stream()
                            .filter(row -> Objects.equals(row.key(), key))
                            .findFirst()
                            .orElse(null);
        }
        boolean isInsertion =
                old == null || identity != RowIdentity.JOIN_KEY && random.nextInt(5) < 2;
        if (isInsertion) {
            return List.of(insert(ChangeKind.INSERT, added));
        }
        if (random.nextBoolean()) {
            return List.of(retract(ChangeKind.DELETE, old));
        }
        Row updated =
                identity == RowIdentity.UNIQUE_COLUMNS
                        ? new Row(added.key(), old.id(), added.value(), added.text())
                        : added;
        return List.of(
                retract(ChangeKind.UPDATE_BEFORE, old), insert(ChangeKind.UPDATE_AFTER, updated));
    }

    private Change insert(ChangeKind kind, Row row) {
        live.add(row);
        return new Change(kind, row);
    }

    private Change retract(ChangeKind kind, Row row) {
        live.remove(row);
        return new Change(kind, row);
    }

    private Row newRow() {
        int draw = random.nextInt(20);
        Long key = draw == 0 ? null : draw < 10 ? 0L : (Long) (long) random.nextInt(KEYS);
        int value = random.nextInt(3);
        if (identity == RowIdentity.MULTISET) {
            return new Row(key, random.nextInt(2), value, value == 0 ? null : "v" + value);
        }
        return new Row(key, nextId++, value, "row " + nextId);
    }
}
