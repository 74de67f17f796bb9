// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import static io.github.gpujoin.examples.data.TpchTables.CUSTOMER;
import static io.github.gpujoin.examples.data.TpchTables.LINEITEM;
import static io.github.gpujoin.examples.data.TpchTables.NATION;
import static io.github.gpujoin.examples.data.TpchTables.ORDERS;
import static io.github.gpujoin.examples.data.TpchTables.REGION;
import static io.github.gpujoin.examples.data.TpchTables.SUPPLIER;
import static io.github.gpujoin.examples.query.ColumnFilter.betweenDates;
import static io.github.gpujoin.examples.query.ColumnFilter.less;
import static io.github.gpujoin.examples.query.ColumnFilter.oneOf;
import static io.github.gpujoin.examples.query.RowOrder.by;
import static io.github.gpujoin.examples.query.RowOrder.number;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.flink.api.StarJoin;
import java.util.List;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.types.Row;

/**
 * TPC-H queries 3, 4 and 5 with the benchmark's validation parameters: joins of joins, where a star
 * join's chunks are the dimension of the next.
 */
final class TpchQueries {

    static final List<Query> ALL = List.of(query3(), query4(), query5());

    private TpchQueries() {}

    /** Shipping priority: the ten open orders of most value. */
    private static Query query3() {
        return new Query(
                "tpch-3",
                Benchmark.TPCH,
                TpchQueries::plan3,
                List.of(
                        ResultColumn.plain("l_orderkey"),
                        ResultColumn.decimal("revenue", 4),
                        ResultColumn.date("o_orderdate"),
                        ResultColumn.plain("o_shippriority")),
                by("revenue")
                        .reversed()
                        .thenComparing(by("o_orderdate"))
                        .thenComparing(by("l_orderkey")),
                10);
    }

    private static DataStream<Row> plan3(QueryTables tables) {
        DataStream<Chunk> customer = tables.dimension(CUSTOMER, "c_custkey", "c_mktsegment");
        DataStream<Chunk> orders =
                tables.dimension(
                        ORDERS, "o_orderkey", "o_custkey", "o_orderdate", "o_shippriority");
        DataStream<Chunk> lineitem =
                tables.facts(LINEITEM, "l_orderkey", "l_extendedprice", "l_discount", "l_shipdate");
        DataStream<Chunk> ordersOfSegment =
                StarJoin.ofChunks(orders)
                        .where(betweenDates("o_orderdate", "0001-01-01", "1995-03-14").on(orders))
                        .select("o_orderkey", "o_orderdate", "o_shippriority")
                        .dimensionChunks(
                                customer,
                                d ->
                                        d.named("customer")
                                                .on("o_custkey", "c_custkey")
                                                .where(
                                                        oneOf("c_mktsegment", "BUILDING")
                                                                .on(customer))
                                                .expectedBytes(tables.bytes(CUSTOMER)))
                        .uid(tables.label() + "-segment")
                        .toChunks();
        DataStream<Row> joined =
                StarJoin.ofChunks(lineitem)
                        .where(betweenDates("l_shipdate", "1995-03-16", "9999-12-31").on(lineitem))
                        .select("l_orderkey", "l_extendedprice", "l_discount")
                        .dimensionChunks(
                                ordersOfSegment,
                                d ->
                                        d.named("orders")
                                                .on("l_orderkey", "o_orderkey")
                                                .select("o_orderdate", "o_shippriority")
                                                .expectedBytes(tables.bytes(ORDERS)))
                        .uid(tables.label())
                        .toRows();
        return GroupSum.of(
                tables.label() + "-sum",
                joined,
                TpchQueries::discountedPrice,
                "revenue",
                "l_orderkey",
                "o_orderdate",
                "o_shippriority");
    }

    /** Order priority checking: orders of a quarter with a line received late. */
    private static Query query4() {
        return new Query(
                "tpch-4",
                Benchmark.TPCH,
                TpchQueries::plan4,
                List.of(ResultColumn.plain("o_orderpriority"), ResultColumn.plain("order_count")),
                by("o_orderpriority"),
                Integer.MAX_VALUE);
    }

    private static DataStream<Row> plan4(QueryTables tables) {
        DataStream<Chunk> orders =
                tables.facts(ORDERS, "o_orderkey", "o_orderdate", "o_orderpriority");
        DataStream<Chunk> lineitem =
                tables.dimension(LINEITEM, "l_orderkey", "l_commitdate", "l_receiptdate");
        DataStream<Row> joined =
                StarJoin.ofChunks(orders)
                        .where(betweenDates("o_orderdate", "1993-07-01", "1993-09-30").on(orders))
                        .select("o_orderpriority")
                        .dimensionChunks(
                                lineitem,
                                d ->
                                        d.named("lineitem")
                                                .on("o_orderkey", "l_orderkey")
                                                .where(
                                                        less("l_commitdate", "l_receiptdate")
                                                                .on(lineitem))
                                                .semi()
                                                .partitioned())
                        .uid(tables.label())
                        .toRows();
        return GroupSum.of(
                tables.label() + "-sum", joined, row -> 1, "order_count", "o_orderpriority");
    }

    /** Local supplier volume: revenue of a region's nations where customer and supplier share. */
    private static Query query5() {
        return new Query(
                "tpch-5",
                Benchmark.TPCH,
                TpchQueries::plan5,
                List.of(ResultColumn.plain("n_name"), ResultColumn.decimal("revenue", 4)),
                by("revenue").reversed().thenComparing(by("n_name")),
                Integer.MAX_VALUE);
    }

    private static DataStream<Row> plan5(QueryTables tables) {
        DataStream<Chunk> lineitem =
                tables.facts(LINEITEM, "l_orderkey", "l_suppkey", "l_extendedprice", "l_discount");
        return GroupSum.of(
                tables.label() + "-sum",
                StarJoin.ofChunks(lineitem)
                        .select("l_extendedprice", "l_discount")
                        .dimensionChunks(
                                suppliersOfAsia(tables),
                                d ->
                                        d.named("supplier")
                                                .on("l_suppkey", "s_suppkey")
                                                .select("s_nationkey", "n_name")
                                                .expectedBytes(tables.bytes(SUPPLIER)))
                        .dimensionChunks(
                                ordersOf1994(tables),
                                d ->
                                        d.named("orders")
                                                .on("l_orderkey", "o_orderkey")
                                                .select("c_nationkey")
                                                .expectedBytes(tables.bytes(ORDERS)))
                        .uid(tables.label())
                        .toRows()
                        .filter(
                                row ->
                                        row.getField("s_nationkey")
                                                .equals(row.getField("c_nationkey")))
                        .name("same nation")
                        .uid(tables.label() + "-same-nation"),
                TpchQueries::discountedPrice,
                "revenue",
                "n_name");
    }

    private static DataStream<Chunk> suppliersOfAsia(QueryTables tables) {
        DataStream<Chunk> region = tables.dimension(REGION, "r_regionkey", "r_name");
        DataStream<Chunk> nation = tables.dimension(NATION, "n_nationkey", "n_name", "n_regionkey");
        DataStream<Chunk> supplier = tables.dimension(SUPPLIER, "s_suppkey", "s_nationkey");
        DataStream<Chunk> nationsOfAsia =
                StarJoin.ofChunks(nation)
                        .select("n_nationkey", "n_name")
                        .dimensionChunks(
                                region,
                                d ->
                                        d.named("region")
                                                .on("n_regionkey", "r_regionkey")
                                                .where(oneOf("r_name", "ASIA").on(region))
                                                .expectedBytes(tables.bytes(REGION)))
                        .uid(tables.label() + "-nations")
                        .toChunks();
        return StarJoin.ofChunks(supplier)
                .select("s_suppkey", "s_nationkey")
                .dimensionChunks(
                        nationsOfAsia,
                        d ->
                                d.named("nation")
                                        .on("s_nationkey", "n_nationkey")
                                        .select("n_name")
                                        .expectedBytes(tables.bytes(NATION)))
                .uid(tables.label() + "-suppliers")
                .toChunks();
    }

    private static DataStream<Chunk> ordersOf1994(QueryTables tables) {
        DataStream<Chunk> customer = tables.dimension(CUSTOMER, "c_custkey", "c_nationkey");
        DataStream<Chunk> orders =
                tables.dimension(ORDERS, "o_orderkey", "o_custkey", "o_orderdate");
        return StarJoin.ofChunks(orders)
                .where(betweenDates("o_orderdate", "1994-01-01", "1994-12-31").on(orders))
                .select("o_orderkey")
                .dimensionChunks(
                        customer,
                        d ->
                                d.named("customer")
                                        .on("o_custkey", "c_custkey")
                                        .select("c_nationkey")
                                        .expectedBytes(tables.bytes(CUSTOMER)))
                .uid(tables.label() + "-orders")
                .toChunks();
    }

    /** In units of a hundredth of a cent: cents times a percentage. */
    private static long discountedPrice(Row row) {
        return number(row, "l_extendedprice") * (100 - number(row, "l_discount"));
    }
}
