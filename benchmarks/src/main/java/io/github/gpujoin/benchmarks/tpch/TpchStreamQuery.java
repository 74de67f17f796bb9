// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.tpch;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.benchmarks.sql.EventTable;
import io.github.gpujoin.benchmarks.sql.SqlJob;
import java.util.EnumSet;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import org.apache.flink.table.api.TableEnvironment;

/**
 * TPC-H queries with the benchmark's validation parameters, over changing tables with primary keys.
 * They have no order and no limit: their results are kept up to date as a whole.
 */
public enum TpchStreamQuery {
    /** Shipping priority: orders of a market segment that have not been shipped at a day. */
    Q3(
            EnumSet.of(ChangingTable.CUSTOMER, ChangingTable.ORDERS, ChangingTable.LINEITEM),
            """
            SELECT l_orderkey, SUM(l_extendedprice * (1 - l_discount)) AS revenue, o_orderdate,
                o_shippriority
            FROM customer, orders, lineitem
            WHERE c_mktsegment = 'BUILDING'
                AND c_custkey = o_custkey
                AND l_orderkey = o_orderkey
                AND o_orderdate < DATE '1995-03-15'
                AND l_shipdate > DATE '1995-03-15'
            GROUP BY l_orderkey, o_orderdate, o_shippriority
            """),

    /** Local supplier volume: revenue in a region where customer and supplier share a nation. */
    Q5(
            EnumSet.allOf(ChangingTable.class),
            """
            SELECT n_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue
            FROM customer, orders, lineitem, supplier, nation, region
            WHERE c_custkey = o_custkey
                AND l_orderkey = o_orderkey
                AND l_suppkey = s_suppkey
                AND c_nationkey = s_nationkey
                AND s_nationkey = n_nationkey
                AND n_regionkey = r_regionkey
                AND r_name = 'ASIA'
                AND o_orderdate >= DATE '1994-01-01'
                AND o_orderdate < DATE '1995-01-01'
            GROUP BY n_name
            """),

    /** Returned items: customers and the revenue that they returned in a quarter. */
    Q10(
            EnumSet.of(
                    ChangingTable.CUSTOMER,
                    ChangingTable.ORDERS,
                    ChangingTable.LINEITEM,
                    ChangingTable.NATION),
            """
            SELECT c_custkey, c_name, SUM(l_extendedprice * (1 - l_discount)) AS revenue,
                c_acctbal, n_name, c_address, c_phone, c_comment
            FROM customer, orders, lineitem, nation
            WHERE c_custkey = o_custkey
                AND l_orderkey = o_orderkey
                AND o_orderdate >= DATE '1993-10-01'
                AND o_orderdate < DATE '1994-01-01'
                AND l_returnflag = 'R'
                AND c_nationkey = n_nationkey
            GROUP BY c_custkey, c_name, c_acctbal, c_phone, n_name, c_address, c_comment
            """);

    private final Set<ChangingTable> tables;
    private final String sql;

    TpchStreamQuery(Set<ChangingTable> tables, String sql) {
        this.tables = tables;
        this.sql = sql;
    }

    /** Returns the name in reports and in options. */
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    Set<ChangingTable> tables() {
        return tables;
    }

    /**
     * Returns the job over changes of the tables that the query reads.
     *
     * @param subtasks source subtasks of the job
     */
    public SqlJob job(TpchChanges changes, int subtasks) {
        List<EventLog> logs = changes.logs(tables, subtasks);
        long events = logs.stream().mapToLong(EventLog::rowCount).sum();
        return new SqlJob(toString(), sql, this::create, logs, events);
    }

    private void create(TableEnvironment catalog, int run) {
        for (ChangingTable table : tables) {
            catalog.executeSql(
                    "CREATE TABLE %s (%s) WITH %s"
                            .formatted(
                                    table.label(),
                                    table.schema(),
                                    EventTable.with(run, table.ordinal())));
        }
    }
}
