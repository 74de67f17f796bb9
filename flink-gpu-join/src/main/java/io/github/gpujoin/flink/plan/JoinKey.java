// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.flink.emit.HashedDimension;
import io.github.gpujoin.flink.record.ColumnsKey;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import io.github.gpujoin.flink.record.SelectedKey;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * The key of a dimension and the facts. It is an integer column of both sides, or a column that
 * packers compute from other columns.
 *
 * @param factColumn key column in the facts' chunks
 * @param column key column in the dimension's chunks
 * @param computedFactKey computes the key of a fact; null if it is a column of the facts
 * @param computedKey computes the key of a dimension row; null if it is a column of the dimension
 */
record JoinKey(
        String factColumn,
        String column,
        @Nullable KeyColumn<Object> computedFactKey,
        @Nullable KeyColumn<Object> computedKey) {

    /**
     * Returns the key of a dimension.
     *
     * @throws IllegalArgumentException if a column is missing, or the columns cannot be compared
     */
    static JoinKey of(JoinInput<?> facts, DimensionInput<?> dimension) {
        List<String> factColumns = dimension.factColumns();
        List<String> columns = dimension.columns();
        for (int i = 0; i < columns.size(); i++) {
            requireColumns(facts, factColumns.get(i), dimension.input(), columns.get(i));
        }
        boolean single = columns.size() == 1 && dimension.nulls() == Nulls.MATCH_NOTHING;
        if (single
                && facts.isIntegerColumn(factColumns.get(0))
                && dimension.input().isIntegerColumn(columns.get(0))) {
            return new JoinKey(factColumns.get(0), columns.get(0), null, null);
        }
        SelectedKey<Object, Row> ofFacts = selected(facts, factColumns, dimension.nulls());
        SelectedKey<Object, Row> ofRows = selected(dimension.input(), columns, dimension.nulls());
        if (!ofRows.layout().isComparableTo(ofFacts.layout())) {
            throw new IllegalArgumentException(
                    "Key types differ: dimension '%s' has %s, the facts have %s. Cast one side."
                            .formatted(
                                    dimension.input().name(),
                                    key(dimension.input(), columns).description(),
                                    key(facts, factColumns).description()));
        }
        SelectedKey<Object, Row> aligned = ofRows.alignedWith(ofFacts);
        boolean numbered =
                !aligned.layout().isExact() && HashedDimension.numbersRows(dimension.kind());
        KeyColumn<Object> computedFactKey =
                KeyColumn.of(factColumns, ofFacts.alignedWith(ofRows), false);
        KeyColumn<Object> computedKey = KeyColumn.of(columns, aligned, numbered);
        return new JoinKey(
                computedFactKey.name(), computedKey.name(), computedFactKey, computedKey);
    }

    private static void requireColumns(
            JoinInput<?> facts, String factColumn, JoinInput<?> dimension, String column) {
        boolean missing = !facts.hasColumn(factColumn) || !dimension.hasColumn(column);
        if (missing && facts.hasColumn(column) && dimension.hasColumn(factColumn)) {
            throw new IllegalArgumentException(
                    "Swapped columns: .on(\"%s\", \"%s\") of dimension '%s'. The order is .on(factColumn, dimensionColumn)."
                            .formatted(factColumn, column, dimension.name()));
        }
        facts.requireColumn(factColumn);
        dimension.requireColumn(column);
    }

    private static SelectedKey<Object, Row> selected(
            JoinInput<?> side, List<String> columns, Nulls nulls) {
        ColumnsKey<Object> key = key(side, columns);
        return SelectedKey.of(key, key.keyType(), nulls);
    }

    @SuppressWarnings("unchecked")
    private static ColumnsKey<Object> key(JoinInput<?> side, List<String> columns) {
        return new ColumnsKey<>((TypeInformation<Object>) side.recordType(), columns);
    }

    /** Returns the column of the facts that a join compares if it compares more than integers. */
    String comparedFactColumn() {
        return computedFactKey == null ? factColumn : computedFactKey.comparedName();
    }

    /** Returns the column of the dimension that such a join compares. */
    String comparedColumn() {
        return computedKey == null ? column : computedKey.comparedName();
    }

    /** Whether the key column contains the whole key, rather than its hash. */
    boolean isExact() {
        return computedKey == null || computedKey.key().layout().isExact();
    }
}
