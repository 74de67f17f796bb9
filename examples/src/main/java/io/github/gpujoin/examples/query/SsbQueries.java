// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import static io.github.gpujoin.examples.data.SsbTables.CUSTOMER;
import static io.github.gpujoin.examples.data.SsbTables.DATE;
import static io.github.gpujoin.examples.data.SsbTables.LINEORDER;
import static io.github.gpujoin.examples.data.SsbTables.PART;
import static io.github.gpujoin.examples.data.SsbTables.SUPPLIER;
import static io.github.gpujoin.examples.query.ColumnFilter.all;
import static io.github.gpujoin.examples.query.ColumnFilter.between;
import static io.github.gpujoin.examples.query.ColumnFilter.equal;
import static io.github.gpujoin.examples.query.ColumnFilter.oneOf;
import static io.github.gpujoin.examples.query.RowOrder.by;
import static io.github.gpujoin.flink.api.ColumnPredicate.column;

import io.github.gpujoin.flink.api.ColumnPredicate;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;
import org.apache.flink.types.Row;

/**
 * The 13 queries of the star schema benchmark, in its four flights: O'Neil, O'Neil, Chen, "The Star
 * Schema Benchmark", section 3. The most selective dimension is joined first.
 */
final class SsbQueries {

    private static final ColumnFilter UNTIL_1997 = between("d_year", 1992, 1997);
    private static final ColumnFilter SINCE_1997 = between("d_year", 1997, 1998);
    private static final ColumnFilter TWO_MANUFACTURERS = oneOf("p_mfgr", "MFGR#1", "MFGR#2");

    static final List<Query> ALL =
            List.of(
                    flight1(
                            "1.1",
                            equal("d_year", 1993),
                            column("lo_discount").between(1, 3),
                            column("lo_quantity").lessThan(25)),
                    flight1(
                            "1.2",
                            equal("d_yearmonthnum", 199401),
                            column("lo_discount").between(4, 6),
                            column("lo_quantity").between(26, 35)),
                    flight1(
                            "1.3",
                            equal("d_weeknuminyear", 6).and(equal("d_year", 1994)),
                            column("lo_discount").between(5, 7),
                            column("lo_quantity").between(26, 35)),
                    flight2("2.1", oneOf("p_category", "MFGR#12"), "AMERICA"),
                    flight2("2.2", between("p_brand1", "MFGR#2221", "MFGR#2228"), "ASIA"),
                    flight2("2.3", oneOf("p_brand1", "MFGR#2221"), "EUROPE"),
                    flight3("3.1", "nation", UNTIL_1997, "region", "ASIA"),
                    flight3("3.2", "city", UNTIL_1997, "nation", "UNITED STATES"),
                    flight3("3.3", "city", UNTIL_1997, "city", "UNITED KI1", "UNITED KI5"),
                    flight3(
                            "3.4",
                            "city",
                            oneOf("d_yearmonth", "Dec1997"),
                            "city",
                            "UNITED KI1",
                            "UNITED KI5"),
                    flight4(
                            "4.1",
                            oneOf("s_region", "AMERICA"),
                            TWO_MANUFACTURERS,
                            all(),
                            "c_nation"),
                    flight4(
                            "4.2",
                            oneOf("s_region", "AMERICA"),
                            TWO_MANUFACTURERS,
                            SINCE_1997,
                            "s_nation",
                            "p_category"),
                    flight4(
                            "4.3",
                            oneOf("s_nation", "UNITED STATES"),
                            oneOf("p_category", "MFGR#14"),
                            SINCE_1997,
                            "s_city",
                            "p_brand1"));

    private SsbQueries() {}

    /** Revenue that discounts of a size cost in a period; all of it in the join's engine. */
    private static Query flight1(
            String name,
            ColumnFilter dates,
            ColumnPredicate discounts,
            ColumnPredicate quantities) {
        return Star.of(name, LINEORDER)
                .where(discounts)
                .where(quantities)
                .join(DATE, "lo_orderdate", "d_datekey", dates)
                .sum("revenue", "lo_extendedprice", "lo_discount")
                .query((a, b) -> 0, "revenue");
    }

    /** Revenue of brands from suppliers of a region, by year. */
    private static Query flight2(String name, ColumnFilter parts, String region) {
        return Star.of(name, LINEORDER)
                .join(PART, "lo_partkey", "p_partkey", parts, "p_brand1")
                .join(SUPPLIER, "lo_suppkey", "s_suppkey", oneOf("s_region", region))
                .join(DATE, "lo_orderdate", "d_datekey", all(), "d_year")
                .sum("revenue", "lo_revenue")
                .groupBy("d_year", "p_brand1")
                .query(by("d_year").thenComparing(by("p_brand1")), "revenue", "d_year", "p_brand1");
    }

    /** Revenue between places of customers and of suppliers, by year. */
    private static Query flight3(
            String name, String groupLevel, ColumnFilter dates, String level, String... places) {
        String from = "c_" + groupLevel;
        String to = "s_" + groupLevel;
        return Star.of(name, LINEORDER)
                .join(CUSTOMER, "lo_custkey", "c_custkey", oneOf("c_" + level, places), from)
                .join(SUPPLIER, "lo_suppkey", "s_suppkey", oneOf("s_" + level, places), to)
                .join(DATE, "lo_orderdate", "d_datekey", dates, "d_year")
                .sum("revenue", "lo_revenue")
                .groupBy(from, to, "d_year")
                .query(
                        by("d_year")
                                .thenComparing(by("revenue").reversed())
                                .thenComparing(by(from))
                                .thenComparing(by(to)),
                        from,
                        to,
                        "d_year",
                        "revenue");
    }

    /** Profit in the Americas, by year and something else. */
    private static Query flight4(
            String name,
            ColumnFilter suppliers,
            ColumnFilter parts,
            ColumnFilter dates,
            String... groups) {
        String[] groupBy =
                Stream.concat(Stream.of("d_year"), Stream.of(groups)).toArray(String[]::new);
        Comparator<Row> order = by("d_year");
        for (String group : groups) {
            order = order.thenComparing(by(group));
        }
        return Star.of(name, LINEORDER)
                .join(PART, "lo_partkey", "p_partkey", parts, of("p_", groups))
                .join(SUPPLIER, "lo_suppkey", "s_suppkey", suppliers, of("s_", groups))
                .join(
                        CUSTOMER,
                        "lo_custkey",
                        "c_custkey",
                        oneOf("c_region", "AMERICA"),
                        of("c_", groups))
                .join(DATE, "lo_orderdate", "d_datekey", dates, "d_year")
                .sum("profit", "lo_revenue")
                .minus("lo_supplycost")
                .groupBy(groupBy)
                .query(
                        order,
                        Stream.concat(Stream.of(groupBy), Stream.of("profit"))
                                .toArray(String[]::new));
    }

    /** The columns of one table, which its prefix tells. */
    private static String[] of(String prefix, String[] columns) {
        return Stream.of(columns).filter(c -> c.startsWith(prefix)).toArray(String[]::new);
    }
}
