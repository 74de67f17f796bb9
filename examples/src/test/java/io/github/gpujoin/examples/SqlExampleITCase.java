// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.run.Cli;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;

/** The example of tables prints what Flink's own SQL join gives. */
class SqlExampleITCase {

    private static final int ORDERS = 20_000;

    @Test
    void shouldPrintWhatSqlGives() throws Exception {
        StringWriter printed = new StringWriter();
        CommandLine line = Cli.commandLine(new SqlExample());
        line.setOut(new PrintWriter(printed));

        int exitCode = line.execute("--orders=" + ORDERS, "--parallelism=2", "--engine=cpu");

        assertThat(exitCode).isZero();
        List<String> rows = printed.toString().lines().map(row -> row.trim()).toList();
        assertThat(rows.get(0)).isEqualTo("nation     orders          revenue");
        assertThat(rows.subList(1, rows.size()))
                .extracting(row -> row.replaceAll(" +", " "))
                .containsExactlyElementsOf(bySql());
    }

    @ParameterizedTest
    @ValueSource(longs = {0, -5})
    void shouldRefuseATableWithoutOrders(long orders) {
        StringWriter err = new StringWriter();
        CommandLine line = Cli.commandLine(new SqlExample());
        line.setErr(new PrintWriter(err));

        assertThat(line.execute("--orders=" + orders)).isEqualTo(2);
        assertThat(err.toString())
                .startsWith("sql-example: Invalid --orders: " + orders + ". Use at least 1.");
    }

    private static List<String> bySql() throws Exception {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        // Each further core would take its share of the network buffers.
        tables.getConfig().set("table.exec.resource.default-parallelism", "1");
        SqlExample.createTables(tables, ORDERS);
        tables.executeSql(
                "CREATE TEMPORARY VIEW enriched AS SELECT * FROM orders"
                        + " JOIN (SELECT country, id, nation FROM customers WHERE active)"
                        + " ON order_country = country AND customer_id = id");
        List<String> rows = new ArrayList<>();
        try (CloseableIterator<Row> all =
                tables.sqlQuery(SqlExample.REVENUE + " ORDER BY nation").execute().collect()) {
            all.forEachRemaining(
                    row ->
                            rows.add(
                                    row.getField(0)
                                            + " "
                                            + row.getField(1)
                                            + " "
                                            + row.getField(2)));
        }
        assertThat(rows).hasSize(3);
        return rows;
    }
}
