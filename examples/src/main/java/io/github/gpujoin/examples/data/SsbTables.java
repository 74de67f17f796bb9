// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import static io.github.gpujoin.examples.tbl.TblType.INT32;
import static io.github.gpujoin.examples.tbl.TblType.INT64;
import static io.github.gpujoin.examples.tbl.TblType.TEXT;

import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import java.util.List;

/**
 * Tables of the star schema benchmark: O'Neil, O'Neil, Chen, "The Star Schema Benchmark", section
 * 2. Money is in cents, dates are numbers {@code yyyymmdd}.
 */
public final class SsbTables {

    public static final TblTable LINEORDER =
            TblTable.of(
                    "lineorder",
                    TblColumn.of("lo_orderkey", INT64),
                    TblColumn.of("lo_linenumber", INT32),
                    TblColumn.of("lo_custkey", INT32),
                    TblColumn.of("lo_partkey", INT32),
                    TblColumn.of("lo_suppkey", INT32),
                    TblColumn.of("lo_orderdate", INT32),
                    TblColumn.of("lo_orderpriority", TEXT),
                    TblColumn.of("lo_shippriority", TEXT),
                    TblColumn.of("lo_quantity", INT32),
                    TblColumn.of("lo_extendedprice", INT32),
                    TblColumn.of("lo_ordtotalprice", INT32),
                    TblColumn.of("lo_discount", INT32),
                    TblColumn.of("lo_revenue", INT32),
                    TblColumn.of("lo_supplycost", INT32),
                    TblColumn.of("lo_tax", INT32),
                    TblColumn.of("lo_commitdate", INT32),
                    TblColumn.of("lo_shipmode", TEXT));

    public static final TblTable CUSTOMER =
            TblTable.of(
                    "customer",
                    TblColumn.of("c_custkey", INT32),
                    TblColumn.of("c_name", TEXT),
                    TblColumn.of("c_address", TEXT),
                    TblColumn.of("c_city", TEXT),
                    TblColumn.of("c_nation", TEXT),
                    TblColumn.of("c_region", TEXT),
                    TblColumn.of("c_phone", TEXT),
                    TblColumn.of("c_mktsegment", TEXT));

    public static final TblTable SUPPLIER =
            TblTable.of(
                    "supplier",
                    TblColumn.of("s_suppkey", INT32),
                    TblColumn.of("s_name", TEXT),
                    TblColumn.of("s_address", TEXT),
                    TblColumn.of("s_city", TEXT),
                    TblColumn.of("s_nation", TEXT),
                    TblColumn.of("s_region", TEXT),
                    TblColumn.of("s_phone", TEXT));

    public static final TblTable PART =
            TblTable.of(
                    "part",
                    TblColumn.of("p_partkey", INT32),
                    TblColumn.of("p_name", TEXT),
                    TblColumn.of("p_mfgr", TEXT),
                    TblColumn.of("p_category", TEXT),
                    TblColumn.of("p_brand1", TEXT),
                    TblColumn.of("p_color", TEXT),
                    TblColumn.of("p_type", TEXT),
                    TblColumn.of("p_size", INT32),
                    TblColumn.of("p_container", TEXT));

    public static final TblTable DATE =
            TblTable.of(
                    "date",
                    TblColumn.of("d_datekey", INT32),
                    TblColumn.of("d_date", TEXT),
                    TblColumn.of("d_dayofweek", TEXT),
                    TblColumn.of("d_month", TEXT),
                    TblColumn.of("d_year", INT32),
                    TblColumn.of("d_yearmonthnum", INT32),
                    TblColumn.of("d_yearmonth", TEXT),
                    TblColumn.of("d_daynuminweek", INT32),
                    TblColumn.of("d_daynuminmonth", INT32),
                    TblColumn.of("d_daynuminyear", INT32),
                    TblColumn.of("d_monthnuminyear", INT32),
                    TblColumn.of("d_weeknuminyear", INT32),
                    TblColumn.of("d_sellingseason", TEXT),
                    TblColumn.of("d_lastdayinweekfl", INT32),
                    TblColumn.of("d_lastdayinmonthfl", INT32),
                    TblColumn.of("d_holidayfl", INT32),
                    TblColumn.of("d_weekdayfl", INT32));

    /** Dimensions first. */
    public static final List<TblTable> ALL = List.of(DATE, SUPPLIER, CUSTOMER, PART, LINEORDER);

    private SsbTables() {}
}
