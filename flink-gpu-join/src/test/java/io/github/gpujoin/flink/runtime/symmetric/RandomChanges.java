// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.RowIdentity;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.apache.flink.table.data.RowData;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/** A random changelog of one input, in which each change refers to a row that is there. */
final class RandomChanges {

    private static final int KEYS = 6;
    private static final int NOTES = 3;

    private record Live(@Nullable Integer key, int id, String note) {}

    private final JoinShape shape;
    private final RowIdentity identity;
    private final Random random;

    private final boolean mayUpsert;
    private final List<Live> live = new ArrayList<>();
    private int nextId;

    /**
     * @param mayUpsert whether updates may lack the change before them
     */
    RandomChanges(JoinShape shape, int input, boolean mayUpsert, Random random) {
        this.shape = shape;
        this.identity = shape.identity(input);
        this.mayUpsert = mayUpsert;
        this.random = random;
    }

    /** Returns a change, or an update as two changes. */
    List<RowData> next() {
        boolean isAppended = identity == RowIdentity.APPEND_ONLY;
        if (isAppended || live.isEmpty() || random.nextInt(3) == 0) {
            return insert();
        }
        Live old = live.get(random.nextInt(live.size()));
        return random.nextBoolean() ? delete(old) : update(old);
    }

    private List<RowData> insert() {
        Integer key = random.nextInt(8) == 0 ? null : (Integer) random.nextInt(KEYS);
        if (identity == RowIdentity.JOIN_KEY) {
            Integer wanted = key == null ? 0 : key;
            for (Live row : live) {
                if (Objects.equals(row.key, wanted)) {
                    return delete(row);
                }
            }
            key = wanted;
        }
        boolean repeats = identity == RowIdentity.MULTISET || identity == RowIdentity.APPEND_ONLY;
        Live row = new Live(key, repeats ? random.nextInt(3) : nextId++, note());
        live.add(row);
        return List.of(toRow(RowKind.INSERT, row));
    }

    private List<RowData> delete(Live row) {
        live.remove(row);
        return List.of(toRow(RowKind.DELETE, row));
    }

    private List<RowData> update(Live old) {
        live.remove(old);
        boolean moves = identity != RowIdentity.JOIN_KEY && random.nextBoolean();
        Live updated = new Live(moves ? (Integer) random.nextInt(KEYS) : old.key, old.id, note());
        live.add(updated);
        boolean isUpsert =
                identity == RowIdentity.JOIN_KEY
                        || identity == RowIdentity.UNIQUE_COLUMNS && !moves;
        RowData after = toRow(RowKind.UPDATE_AFTER, updated);
        return mayUpsert && isUpsert && random.nextBoolean()
                ? List.of(after)
                : List.of(toRow(RowKind.UPDATE_BEFORE, old), after);
    }

    private String note() {
        return "note " + random.nextInt(NOTES);
    }

    private RowData toRow(RowKind kind, Live row) {
        return shape.row(kind, row.key, row.id, row.note);
    }
}
