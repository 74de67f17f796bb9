// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import static io.github.gpujoin.examples.tbl.TblType.DATE;
import static io.github.gpujoin.examples.tbl.TblType.HUNDREDTHS;
import static io.github.gpujoin.examples.tbl.TblType.INT32;
import static io.github.gpujoin.examples.tbl.TblType.INT64;
import static io.github.gpujoin.examples.tbl.TblType.TEXT;

import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import java.util.List;

/** Tables of TPC-H: TPC Benchmark H, section 1.4. */
public final class TpchTables {

    public static final TblTable REGION =
            TblTable.of(
                    "region",
                    TblColumn.of("r_regionkey", INT32),
                    TblColumn.of("r_name", TEXT),
                    TblColumn.of("r_comment", TEXT));

    public static final TblTable NATION =
            TblTable.of(
                    "nation",
                    TblColumn.of("n_nationkey", INT32),
                    TblColumn.of("n_name", TEXT),
                    TblColumn.of("n_regionkey", INT32),
                    TblColumn.of("n_comment", TEXT));

    public static final TblTable SUPPLIER =
            TblTable.of(
                    "supplier",
                    TblColumn.of("s_suppkey", INT32),
                    TblColumn.of("s_name", TEXT),
                    TblColumn.of("s_address", TEXT),
                    TblColumn.of("s_nationkey", INT32),
                    TblColumn.of("s_phone", TEXT),
                    TblColumn.of("s_acctbal", HUNDREDTHS),
                    TblColumn.of("s_comment", TEXT));

    public static final TblTable CUSTOMER =
            TblTable.of(
                    "customer",
                    TblColumn.of("c_custkey", INT32),
                    TblColumn.of("c_name", TEXT),
                    TblColumn.of("c_address", TEXT),
                    TblColumn.of("c_nationkey", INT32),
                    TblColumn.of("c_phone", TEXT),
                    TblColumn.of("c_acctbal", HUNDREDTHS),
                    TblColumn.of("c_mktsegment", TEXT),
                    TblColumn.of("c_comment", TEXT));

    public static final TblTable PART =
            TblTable.of(
                    "part",
                    TblColumn.of("p_partkey", INT32),
                    TblColumn.of("p_name", TEXT),
                    TblColumn.of("p_mfgr", TEXT),
                    TblColumn.of("p_brand", TEXT),
                    TblColumn.of("p_type", TEXT),
                    TblColumn.of("p_size", INT32),
                    TblColumn.of("p_container", TEXT),
                    TblColumn.of("p_retailprice", HUNDREDTHS),
                    TblColumn.of("p_comment", TEXT));

    public static final TblTable PARTSUPP =
            TblTable.of(
                    "partsupp",
                    TblColumn.of("ps_partkey", INT32),
                    TblColumn.of("ps_suppkey", INT32),
                    TblColumn.of("ps_availqty", INT32),
                    TblColumn.of("ps_supplycost", HUNDREDTHS),
                    TblColumn.of("ps_comment", TEXT));

    public static final TblTable ORDERS =
            TblTable.of(
                    "orders",
                    TblColumn.of("o_orderkey", INT64),
                    TblColumn.of("o_custkey", INT32),
                    TblColumn.of("o_orderstatus", TEXT),
                    TblColumn.of("o_totalprice", HUNDREDTHS),
                    TblColumn.of("o_orderdate", DATE),
                    TblColumn.of("o_orderpriority", TEXT),
                    TblColumn.of("o_clerk", TEXT),
                    TblColumn.of("o_shippriority", INT32),
                    TblColumn.of("o_comment", TEXT));

    public static final TblTable LINEITEM =
            TblTable.of(
                    "lineitem",
                    TblColumn.of("l_orderkey", INT64),
                    TblColumn.of("l_partkey", INT32),
                    TblColumn.of("l_suppkey", INT32),
                    TblColumn.of("l_linenumber", INT32),
                    TblColumn.of("l_quantity", HUNDREDTHS),
                    TblColumn.of("l_extendedprice", HUNDREDTHS),
                    TblColumn.of("l_discount", HUNDREDTHS),
                    TblColumn.of("l_tax", HUNDREDTHS),
                    TblColumn.of("l_returnflag", TEXT),
                    TblColumn.of("l_linestatus", TEXT),
                    TblColumn.of("l_shipdate", DATE),
                    TblColumn.of("l_commitdate", DATE),
                    TblColumn.of("l_receiptdate", DATE),
                    TblColumn.of("l_shipinstruct", TEXT),
                    TblColumn.of("l_shipmode", TEXT),
                    TblColumn.of("l_comment", TEXT));

    /** Small tables first. */
    public static final List<TblTable> ALL =
            List.of(REGION, NATION, SUPPLIER, CUSTOMER, PART, PARTSUPP, ORDERS, LINEITEM);

    private TpchTables() {}
}
