// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.ColumnPredicate;
import io.github.gpujoin.flink.api.GroupedJoin;
import io.github.gpujoin.flink.api.StarJoin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * A star query as the benchmark states it: a filtered fact table, filtered dimensions, a sum, a
 * grouping and an order; {@link #query} makes a Flink job of it. Only columns that are filtered,
 * joined or selected are read.
 *
 * <p>The join's engine adds up sums by group, also groups by text of a dimension.
 *
 * <p>A dimension of which no column is selected is still an inner join, so that rows multiply where
 * its key stands there twice, as in SQL.
 */
final class Star {

    private record Dimension(
            TblTable table, String factKey, String key, ColumnFilter filter, String[] groups) {

        String[] columns() {
            Set<String> columns = new TreeSet<>(filter.columns());
            columns.add(key);
            columns.addAll(Arrays.asList(groups));
            return columns.toArray(String[]::new);
        }
    }

    /** Name of the sum that is subtracted from the query's. */
    private static final String SUBTRACTED = "subtracted";

    private final String name;
    private final TblTable factTable;
    private ColumnFilter factFilter = ColumnFilter.all();
    private final List<Dimension> dimensions = new ArrayList<>();
    private String sumName;
    private String[] factors = {};
    private @Nullable String subtracted;
    private final List<ColumnPredicate> predicates = new ArrayList<>();
    private String[] groupBy = {};

    private Star(String name, TblTable factTable) {
        this.name = name;
        this.factTable = factTable;
    }

    static Star of(String name, TblTable facts) {
        return new Star(name, facts);
    }

    Star where(ColumnFilter filter) {
        factFilter = filter;
        return this;
    }

    /** Keeps facts that all predicates keep, in the engine. */
    Star where(ColumnPredicate predicate) {
        predicates.add(predicate);
        return this;
    }

    /**
     * @param groups columns that are grouped by
     */
    Star join(TblTable table, String factKey, String key, ColumnFilter filter, String... groups) {
        dimensions.add(new Dimension(table, factKey, key, filter, groups));
        return this;
    }

    /** Sums the product of one or two fact columns. */
    Star sum(String resultName, String... columns) {
        sumName = resultName;
        factors = columns;
        return this;
    }

    /** Subtracts the sum of a fact column. */
    Star minus(String column) {
        subtracted = column;
        return this;
    }

    Star groupBy(String... columns) {
        groupBy = columns;
        return this;
    }

    /**
     * @param columns of the result, in the query's order
     */
    Query query(Comparator<Row> order, String... columns) {
        return new Query(
                name,
                Benchmark.SSB,
                this::plan,
                Arrays.stream(columns).map(ResultColumn::plain).toList(),
                order,
                Integer.MAX_VALUE);
    }

    private DataStream<Row> plan(QueryTables tables) {
        Set<String> factColumns = new TreeSet<>(factFilter.columns());
        factColumns.addAll(Arrays.asList(factors));
        if (subtracted != null) {
            factColumns.add(subtracted);
        }
        predicates.forEach(predicate -> factColumns.add(predicate.column()));
        dimensions.forEach(dimension -> factColumns.add(dimension.factKey()));
        String[] columns = factColumns.toArray(String[]::new);
        StarJoin<RowView> star = tables.star(factTable, columns).uid(tables.label());
        predicates.forEach(star::where);
        if (!factFilter.columns().isEmpty()) {
            star.where(factFilter.on(factTable.project(columns)));
        }
        for (Dimension dimension : dimensions) {
            DataStream<Chunk> chunks = tables.dimension(dimension.table(), dimension.columns());
            star.dimensionChunks(
                    chunks,
                    d ->
                            d.named(dimension.table().name())
                                    .on(dimension.factKey(), dimension.key())
                                    .where(dimension.filter().on(chunks))
                                    .expectedBytes(tables.bytes(dimension.table())));
        }
        return sums(star.groupBy(groupBy), tables.label());
    }

    private DataStream<Row> sums(GroupedJoin grouped, String label) {
        if (factors.length == 2) {
            grouped.sumOfProduct(factors[0], factors[1], sumName);
        } else {
            grouped.sum(factors[0], sumName);
        }
        if (subtracted == null) {
            return grouped.toRows();
        }
        DataStream<Row> sums = grouped.sum(subtracted, SUBTRACTED).toRows();
        String difference = sumName;
        return sums.map(row -> minus(row, difference))
                .returns(sums.getType())
                .name("subtract sums")
                .uid(label + "-difference");
    }

    private static Row minus(Row sums, String name) {
        Row row = Row.copy(sums);
        row.setField(name, row.<Long>getFieldAs(name) - row.<Long>getFieldAs(SUBTRACTED));
        return row;
    }
}
