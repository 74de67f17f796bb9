// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats;

import io.github.gpujoin.core.filter.RowPruner;
import io.github.gpujoin.core.filter.RowPruner.ColumnTest;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.flink.api.source.ColumnConditions;
import java.util.List;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;

/** The conditions that a reader knows, which grow while it reads. Not thread-safe. */
public final class RowConditions {

    /** A condition that keeps more rows costs more than the decoding that it saves. */
    private static final double MAX_KEPT_SHARE = 0.875;

    private final ColumnConditions conditions;
    private final ChunkSchema schema;
    private final IntPredicate isTested;
    private List<ColumnCondition> known = List.of();
    private @Nullable RowPruner pruner;

    /**
     * @param schema whose columns the conditions name
     * @param isTested whether the reader tests conditions on a column, by its number; the join
     *     tests the others
     */
    public RowConditions(ColumnConditions conditions, ChunkSchema schema, IntPredicate isTested) {
        this.conditions = conditions;
        this.schema = schema;
        this.isTested = isTested;
    }

    /** Returns all conditions that are known now; the same list until there are more. */
    public List<ColumnCondition> known() {
        List<ColumnCondition> current = conditions.current();
        if (current != known) {
            known = current;
            List<ColumnTest> tests =
                    current.stream()
                            .map(c -> new ColumnTest(schema.require(c.column()), c.values()))
                            .filter(test -> isTested.test(test.column()))
                            .toList();
            pruner = tests.isEmpty() ? null : new RowPruner(tests, MAX_KEPT_SHARE);
        }
        return known;
    }

    /**
     * Returns what tests the next rows, or null if all of them pass.
     *
     * @param rowCount number of these rows
     */
    public @Nullable RowPruner pruner(int rowCount) {
        known();
        if (pruner == null || pruner.isActive()) {
            return pruner;
        }
        pruner.skip(rowCount);
        return null;
    }
}
