// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import io.github.gpujoin.core.engine.ValueRanges.Range;
import io.github.gpujoin.core.filter.LongCondition;
import io.github.gpujoin.core.filter.RangeCondition;
import io.github.gpujoin.flink.api.source.ColumnCondition;
import io.github.gpujoin.formats.parquet.ParquetColumn.Conversion;
import java.io.Serializable;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.parquet.filter2.predicate.FilterApi;
import org.apache.parquet.filter2.predicate.FilterPredicate;
import org.apache.parquet.filter2.predicate.Statistics;
import org.apache.parquet.filter2.predicate.UserDefinedPredicate;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.jspecify.annotations.Nullable;

/**
 * Conditions as predicates of parquet-java, which tests them with the statistics, dictionaries,
 * Bloom filters and page indexes of a file.
 */
final class ParquetConditions {

    /** Bloom filters answer for single values only; more of them are rarely all absent. */
    private static final int MAX_SINGLE_VALUES = 64;

    private ParquetConditions() {}

    /**
     * Returns a predicate that each row with a result meets.
     *
     * @param file its columns
     * @return null if no condition is on a column with predicates
     */
    static @Nullable FilterPredicate predicate(List<ColumnCondition> conditions, MessageType file) {
        FilterPredicate all = null;
        for (ColumnCondition condition : conditions) {
            FilterPredicate one = predicate(condition, file);
            if (one != null) {
                all = all == null ? one : FilterApi.and(all, one);
            }
        }
        return all;
    }

    private static @Nullable FilterPredicate predicate(
            ColumnCondition condition, MessageType file) {
        PrimitiveType type = file.getType(condition.column()).asPrimitiveType();
        ParquetColumn column = ParquetColumn.of(type);
        // Parquet-java takes a point in a name for the path of a nested column, which is absent.
        if (column.conversion() != Conversion.NONE || condition.column().contains(".")) {
            return null;
        }
        if (type.getPrimitiveTypeName() == PrimitiveTypeName.INT64) {
            Set<Long> values = singleValues(condition.values());
            return values.isEmpty()
                    ? FilterApi.userDefined(
                            FilterApi.longColumn(condition.column()),
                            new Kept<Long>(condition.values()))
                    : FilterApi.in(FilterApi.longColumn(condition.column()), values);
        }
        if (type.getPrimitiveTypeName() == PrimitiveTypeName.INT32) {
            Set<Integer> values = new HashSet<>();
            for (long value : singleValues(condition.values())) {
                values.add((int) value);
            }
            return values.isEmpty()
                    ? FilterApi.userDefined(
                            FilterApi.intColumn(condition.column()),
                            new Kept<Integer>(condition.values()))
                    : FilterApi.in(FilterApi.intColumn(condition.column()), values);
        }
        return null;
    }

    /** Returns the accepted values if they are few ints, so that INT32 columns may have them. */
    private static Set<Long> singleValues(LongCondition condition) {
        Set<Long> values = new HashSet<>();
        if (condition instanceof RangeCondition ranges) {
            for (Range range : ranges.values().ranges()) {
                if (range.from() != (int) range.from()
                        || range.to() != (int) range.to()
                        || range.to() - range.from() + values.size() >= MAX_SINGLE_VALUES) {
                    return Set.of();
                }
                for (long value = range.from(); value <= range.to(); value++) {
                    values.add(value);
                }
            }
        }
        return values;
    }

    /** A condition on a column of INT32 or INT64. */
    static final class Kept<T extends Number & Comparable<T>> extends UserDefinedPredicate<T>
            implements Serializable {

        private static final long serialVersionUID = 1L;

        private final LongCondition condition;

        Kept(LongCondition condition) {
            this.condition = condition;
        }

        @Override
        public boolean keep(@Nullable T value) {
            return value != null && condition.mayAccept(value.longValue());
        }

        @Override
        public boolean canDrop(Statistics<T> statistics) {
            return !condition.mayAcceptAny(
                    statistics.getMin().longValue(), statistics.getMax().longValue());
        }

        /** {@inheritDoc} No predicate is negated. */
        @Override
        public boolean inverseCanDrop(Statistics<T> statistics) {
            return false;
        }
    }
}
