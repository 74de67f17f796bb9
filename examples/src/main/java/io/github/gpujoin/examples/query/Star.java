// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.ColumnPredicate;
import io.github.gpujoin.flink.api.StarJoin;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;

/**
 * A star query as the benchmark states it: a filtered fact table, filtered dimensions, a sum, a
 * grouping and an order; {@link #query} makes a Flink job of it. Only columns that are filtered,
 * joined or selected are read.
 *
 * <p>A sum of a product is added up by the join's engine. Groups by text are not made there: the
 * engine carries text without looking at it, so such queries give rows and group them after.
 *
 * <p>A dimension of which no column is selected is still an inner join, so that rows multiply where
 * its key stands there twice, as in SQL.
 */
final class Star {

    private record Dimension(
            TblTable table, String factKey, String key, ColumnFilter filter, String[] select) {

        String[] columns() {
            Set<String> columns = new TreeSet<>(filter.columns());
            columns.add(key);
            columns.addAll(Arrays.asList(select));
            return columns.toArray(String[]::new);
        }
    }

    private final String name;
    private final TblTable factTable;
    private final String[] factSelect;
    private ColumnFilter factFilter = ColumnFilter.all();
    private final List<Dimension> dimensions = new ArrayList<>();
    private String sumName;
    private GroupSum.Measure measure;
    private String[] product = {};
    private final List<ColumnPredicate> predicates = new ArrayList<>();
    private String[] groupBy = {};

    private Star(String name, TblTable factTable, String[] factSelect) {
        this.name = name;
        this.factTable = factTable;
        this.factSelect = factSelect;
    }

    /**
     * @param select fact columns that are summed up
     */
    static Star of(String name, TblTable facts, String... select) {
        return new Star(name, facts, select);
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
     * @param select columns that are grouped by
     */
    Star join(TblTable table, String factKey, String key, ColumnFilter filter, String... select) {
        dimensions.add(new Dimension(table, factKey, key, filter, select));
        return this;
    }

    Star sum(String resultName, GroupSum.Measure sumOf) {
        sumName = resultName;
        measure = sumOf;
        return this;
    }

    /** One sum over all rows, of a product of two columns, in the engine. */
    Star sumOfProduct(String resultName, String first, String second) {
        sumName = resultName;
        product = new String[] {first, second};
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
        factColumns.addAll(Arrays.asList(factSelect));
        factColumns.addAll(Arrays.asList(product));
        predicates.forEach(predicate -> factColumns.add(predicate.column()));
        dimensions.forEach(dimension -> factColumns.add(dimension.factKey()));
        DataStream<Chunk> facts = tables.facts(factTable, factColumns.toArray(String[]::new));
        StarJoin<RowView> star = StarJoin.ofChunks(facts).select(factSelect).uid(tables.label());
        predicates.forEach(star::where);
        if (!factFilter.columns().isEmpty()) {
            star.where(factFilter.on(facts));
        }
        for (Dimension dimension : dimensions) {
            DataStream<Chunk> chunks = tables.dimension(dimension.table(), dimension.columns());
            star.dimensionChunks(
                    chunks,
                    d ->
                            d.named(dimension.table().name())
                                    .on(dimension.factKey(), dimension.key())
                                    .where(dimension.filter().on(chunks))
                                    .select(dimension.select())
                                    .expectedBytes(tables.bytes(dimension.table())));
        }
        if (product.length > 0) {
            return star.groupBy().sumOfProduct(product[0], product[1], sumName).toRows();
        }
        DataStream<Row> joined = star.toRows();
        return GroupSum.of(tables.label() + "-sum", joined, measure, sumName, groupBy);
    }
}
