// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.engine.Aggregation;
import java.io.Serializable;
import java.util.List;
import java.util.Set;

/** In which form a bulk join returns its results. */
public sealed interface BulkOutput extends Serializable {

    /** Only the number of result rows. */
    record Count() implements BulkOutput {}

    /**
     * Chunks of result rows.
     *
     * @param leftColumns indexes in the schema of the left input, in the order of the results; each
     *     at most once
     * @param rightColumns the same of the right input; empty for semi and anti joins
     */
    record Rows(List<Integer> leftColumns, List<Integer> rightColumns) implements BulkOutput {

        /**
         * Copies the lists.
         *
         * @throws IllegalArgumentException if a column repeats
         */
        public Rows {
            leftColumns = List.copyOf(leftColumns);
            rightColumns = List.copyOf(rightColumns);
            if (Set.copyOf(leftColumns).size() < leftColumns.size()
                    || Set.copyOf(rightColumns).size() < rightColumns.size()) {
                throw new IllegalArgumentException(
                        "Output column repeats: leftColumns=%s, rightColumns=%s"
                                .formatted(leftColumns, rightColumns));
            }
        }
    }

    /**
     * Counts and sums by group.
     *
     * @param aggregation whose columns have the ordinal of a {@link JoinSide} as their side. They
     *     are integers that are never null in a result.
     */
    record Groups(Aggregation aggregation) implements BulkOutput {}
}
