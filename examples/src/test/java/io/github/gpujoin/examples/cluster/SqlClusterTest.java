// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.cluster.LocalCluster.Outcome;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Flink's SQL client and SQL gateway as processes, with the jar in {@code lib/} and Flink's planner
 * loader in {@code opt/}. Runs after the module is packaged.
 */
class SqlClusterTest {

    private static final Path TARGET = Path.of("target").toAbsolutePath();
    private static final Path LIB_JAR =
            TARGET.resolve("../../flink-sql-gpu-join/target/flink-sql-gpu-join-lib.jar");

    private static final String ORDERS =
            "CREATE TEMPORARY VIEW orders AS SELECT * FROM (VALUES (1, 10), (2, 20), (3, 10), (4, 40))"
                    + " AS o(id, customer)";
    private static final String CUSTOMERS =
            "CREATE TEMPORARY VIEW customers AS SELECT * FROM (VALUES (10, 'Aachen'), (20, 'Bonn'), (30,"
                    + " 'Celle')) AS c(id, city)";
    private static final String JOIN =
            "SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer = c.id";
    private static final String JOIN_WITHOUT_EQUALITY =
            "SELECT o.id, c.city FROM orders o JOIN customers c ON o.customer < c.id";
    private static final String SWITCH_OFF = "SET 'gpu-join.sql.enabled' = 'false'";

    private static final Pattern ROW =
            Pattern.compile("(?m)^\\| \\+I \\| +([0-9]+) \\| +(\\w+) \\|$");

    private static LocalCluster cluster;

    @TempDir private Path directory;

    @BeforeAll
    static void start() {
        assertThat(LIB_JAR).as("mvn package makes it").isRegularFile();
        cluster = new LocalCluster(TARGET.resolve("sql-cluster-test"));
        cluster.startForSql(1, 4);
    }

    @AfterAll
    static void stop() {
        if (cluster != null) {
            cluster.close();
        }
    }

    @Test
    void shouldReplaceJoinsOfTheSqlClient() throws Exception {
        assertReplacedUntilSwitchedOff();
    }

    @Test
    void shouldReplaceJoinsOfTheSqlClientAtAGateway() throws Exception {
        String gateway = cluster.startSqlGateway().toString();
        assertReplacedUntilSwitchedOff("gateway", "--endpoint", gateway);
    }

    @Test
    void shouldReplaceJoinsOfTheRestEndpointOfAGateway() throws Exception {
        SqlGatewaySession session = SqlGatewaySession.open(cluster.startSqlGateway());
        session.execute(ORDERS);
        session.execute(CUSTOMERS);

        assertThat(session.execute("EXPLAIN " + JOIN))
                .singleElement()
                .asString()
                .contains("GpuJoin(");
        assertThat(session.execute("EXPLAIN " + JOIN_WITHOUT_EQUALITY))
                .singleElement()
                .asString()
                .contains("gpuJoin=[NO_EQUAL_COLUMNS: ");
        assertThat(session.execute(JOIN))
                .containsExactlyInAnyOrder("[1,\"Aachen\"]", "[2,\"Bonn\"]", "[3,\"Aachen\"]");
        session.execute(SWITCH_OFF);
        assertThat(session.execute("EXPLAIN " + JOIN))
                .singleElement()
                .asString()
                .contains("Join(")
                .doesNotContain("GpuJoin(");
    }

    private void assertReplacedUntilSwitchedOff(String... options) throws Exception {
        List<String> results =
                results(
                        options,
                        "SET 'sql-client.execution.result-mode' = 'TABLEAU'",
                        ORDERS,
                        CUSTOMERS,
                        "EXPLAIN " + JOIN,
                        "EXPLAIN " + JOIN_WITHOUT_EQUALITY,
                        JOIN,
                        SWITCH_OFF,
                        "EXPLAIN " + JOIN,
                        JOIN);

        assertThat(results.get(3)).contains("GpuJoin(");
        assertThat(results.get(4)).contains("gpuJoin=[NO_EQUAL_COLUMNS: ");
        assertThat(rows(results.get(5)))
                .containsExactlyInAnyOrder("1 Aachen", "2 Bonn", "3 Aachen");
        assertThat(results.get(7)).contains("Join(").doesNotContain("GpuJoin(");
        assertThat(rows(results.get(8)))
                .containsExactlyInAnyOrder("1 Aachen", "2 Bonn", "3 Aachen");
    }

    /** Returns what the SQL client prints for each statement of a script. */
    private List<String> results(String[] options, String... statements) throws Exception {
        Path script =
                Files.writeString(
                        directory.resolve("script.sql"), String.join(";\n", statements) + ";\n");
        List<String> arguments = new ArrayList<>(List.of(options));
        arguments.addAll(List.of("--file", script.toString()));
        arguments.addAll(List.of("--history", directory.resolve("history").toString()));
        Outcome outcome = cluster.run("sql-client", arguments.toArray(String[]::new));
        List<String> results = List.of(outcome.output().split("Flink SQL> "));
        assertThat(results).as(outcome.output()).hasSize(statements.length + 2);
        assertThat(outcome.exitStatus()).as(outcome.output()).isZero();
        return results.subList(1, results.size() - 1);
    }

    private static List<String> rows(String result) {
        return ROW.matcher(result).results().map(row -> row.group(1) + " " + row.group(2)).toList();
    }
}
