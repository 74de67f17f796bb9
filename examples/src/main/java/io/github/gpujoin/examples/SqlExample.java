// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.run.JobOptions;
import io.github.gpujoin.flink.api.TableJoin;
import java.io.PrintWriter;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * A join of two tables with SQL around it: SQL says what the tables are and adds up the result, and
 * the library's operator joins them.
 */
@Command(
        name = "sql-example",
        mixinStandardHelpOptions = true,
        sortOptions = false,
        description =
                "Joins a table of orders with a table of customers, and sums revenue by nation in SQL.")
public final class SqlExample implements Callable<Integer> {

    /** The result, of a view {@code enriched} of the joined tables. */
    static final String REVENUE =
            "SELECT nation, COUNT(*) AS orders, SUM(price) AS revenue FROM enriched GROUP BY nation";

    @Spec private CommandSpec command;

    @Option(
            names = "--orders",
            paramLabel = "N",
            defaultValue = "100000",
            description = "rows of the streamed orders table, at least 1; default: 100000")
    private long orders;

    @Mixin private JobOptions jobOptions;

    public static void main(String[] arguments) {
        int exitCode = Cli.run(new SqlExample(), arguments);
        if (exitCode != 0) {
            System.exit(exitCode);
        }
    }

    @Override
    public Integer call() throws Exception {
        if (orders < 1) {
            throw new ParameterException(
                    command.commandLine(), "Invalid --orders: " + orders + ". Use at least 1.");
        }
        Configuration options = jobOptions.configuration();
        PrintWriter console = command.commandLine().getOut();
        try (JobCluster cluster = JobCluster.open(jobOptions.slots(), options)) {
            StreamTableEnvironment tables = StreamTableEnvironment.create(cluster.env(options));
            createTables(tables, orders);
            tables.createTemporaryView("enriched", joined(tables));
            print(tables.sqlQuery(REVENUE), console);
        }
        return 0;
    }

    private static Table joined(StreamTableEnvironment tables) {
        return TableJoin.in(tables)
                .build(tables.sqlQuery("SELECT country, id, nation FROM customers WHERE active"))
                .probe(tables.from("orders"))
                .on("order_country", "country")
                .on("customer_id", "id")
                .uid("orders-of-customers")
                .toTable();
    }

    /** Customers are known by a country and a number; the rows are the same in each run. */
    static void createTables(TableEnvironment tables, long orders) {
        tables.executeSql(
                """
                CREATE TABLE customers (
                  n BIGINT,
                  country AS CASE MOD(n, 3) WHEN 0 THEN 'FR' WHEN 1 THEN 'JP' ELSE 'PE' END,
                  id AS n / 3,
                  nation AS CASE MOD(n, 3) WHEN 0 THEN 'France' WHEN 1 THEN 'Japan' ELSE 'Peru' END,
                  active AS MOD(n, 10) <> 9
                ) WITH ('connector' = 'datagen', 'number-of-rows' = '3000',
                        'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '2999')
                """);
        tables.executeSql(
                """
                CREATE TABLE orders (
                  n BIGINT,
                  order_country AS CASE MOD(n, 4) WHEN 0 THEN 'FR' WHEN 1 THEN 'JP' WHEN 2 THEN 'PE' END,
                  customer_id AS MOD(n * 7919, 1200),
                  price AS CAST(MOD(n, 10007) / 100.00 AS DECIMAL(12, 2))
                ) WITH ('connector' = 'datagen', 'number-of-rows' = '%d',
                        'fields.n.kind' = 'sequence', 'fields.n.start' = '0', 'fields.n.end' = '%d')
                """
                        .formatted(orders, orders - 1));
    }

    /** Prints the table as it is at the end; until then SQL updates its rows. */
    private static void print(Table result, PrintWriter console) throws Exception {
        TreeMap<String, Row> byNation = new TreeMap<>();
        try (CloseableIterator<Row> changes = result.execute().collect()) {
            changes.forEachRemaining(
                    change -> {
                        if (change.getKind() == RowKind.DELETE) {
                            byNation.remove(change.<String>getFieldAs(0));
                        } else if (change.getKind() != RowKind.UPDATE_BEFORE) {
                            byNation.put(change.getFieldAs(0), change);
                        }
                    });
        }
        console.printf("%10s %10s %16s%n", "nation", "orders", "revenue");
        byNation.values()
                .forEach(
                        row ->
                                console.printf(
                                        "%10s %10s %16s%n",
                                        row.getField(0), row.getField(1), row.getField(2)));
        console.flush();
    }
}
