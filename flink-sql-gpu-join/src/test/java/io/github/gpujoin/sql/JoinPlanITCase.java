// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.StatementSet;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.planner.factories.TestValuesTableFactory;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a plan with a join of this project keeps: uids, columns, and no compiled plan. */
class JoinPlanITCase {

    @RegisterExtension private static final MiniClusterExtension CLUSTER = SqlComparison.cluster();

    private static final String JOIN = "SELECT a.id, b.id FROM a JOIN b ON a.id = b.id";

    @AfterEach
    void clear() {
        TestValuesTableFactory.clearAllData();
    }

    private static String table(String name) {
        return "CREATE TABLE %s (id INT) WITH ('connector'='datagen','fields.id.kind'='sequence','fields.id.start'='1','fields.id.end'='3')"
                .formatted(name);
    }

    private static List<String> uidsOf(String... queries) {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        GpuJoin.enable(tables);
        tables.getConfig().set("table.optimizer.reuse-sub-plan-enabled", "false");
        tables.executeSql(table("a"));
        tables.executeSql(table("b"));
        tables.createTemporaryView("c", tables.fromDataStream(env.fromData(1, 2, 3)).as("id"));
        tables.explainSql(JOIN);
        for (String query : queries) {
            tables.toDataStream(tables.sqlQuery(query)).print();
        }
        return env.getTransformations().stream()
                .flatMap(root -> root.getTransitivePredecessors().stream())
                .map(Transformation::getUid)
                .filter(uid -> uid != null && uid.matches("gpu-(star-)?join-.*"))
                .distinct()
                .sorted()
                .toList();
    }

    @Test
    void shouldDeriveUidsFromTheJoin() {
        assertThat(uidsOf(JOIN)).hasSizeGreaterThanOrEqualTo(3).isEqualTo(uidsOf(JOIN));
        assertThat(uidsOf(JOIN))
                .doesNotContainAnyElementsOf(
                        uidsOf("SELECT a.id FROM a JOIN b ON a.id = b.id AND a.id > 0"));
    }

    @Test
    void shouldDeriveTheSameUidsFromTablesWithoutNames() {
        String join = "SELECT a.id FROM a JOIN c ON a.id = c.id";
        assertThat(uidsOf(join)).isNotEmpty().isEqualTo(uidsOf(join));
    }

    @Test
    void shouldNumberEqualJoinsOfAStatement() {
        assertThat(uidsOf("(" + JOIN + ") UNION ALL (" + JOIN + ")"))
                .hasSize(2 * uidsOf(JOIN).size());
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void shouldRunEqualJoinsOfAStatementSet(boolean reusesPlans) throws Exception {
        TableEnvironment tables =
                new SqlComparison()
                        .with(table("a"))
                        .with(table("b"))
                        .set("table.optimizer.reuse-sub-plan-enabled", String.valueOf(reusesPlans))
                        .environment();
        StatementSet statements = tables.createStatementSet();
        for (String sink : List.of("x", "y")) {
            tables.executeSql(
                    "CREATE TABLE %s (a INT, b INT) WITH ('connector'='values')".formatted(sink));
            statements.addInsertSql("INSERT INTO %s %s".formatted(sink, JOIN));
        }
        statements.execute().await();
        for (String sink : List.of("x", "y")) {
            assertThat(TestValuesTableFactory.getResultsAsStrings(sink))
                    .containsExactlyInAnyOrder("+I[1, 1]", "+I[2, 2]", "+I[3, 3]");
        }
    }

    @Test
    void shouldRefuseCompiledPlan() {
        TableEnvironment tables =
                new SqlComparison().with(table("a")).with(table("b")).environment();
        tables.executeSql("CREATE TABLE sink (x INT, y INT) WITH ('connector'='blackhole')");
        assertThatThrownBy(() -> tables.compilePlanSql("INSERT INTO sink " + JOIN))
                .hasStackTraceContaining("A compiled plan cannot contain the join GpuJoin.")
                .hasStackTraceContaining("'gpu-join.sql.enabled' = 'false'");
        tables.getConfig().set("gpu-join.sql.enabled", "false");
        assertThat(tables.compilePlanSql("INSERT INTO sink " + JOIN).asJsonString())
                .contains("stream-exec-join");
    }

    @Test
    void shouldNameOptionThatIsNeitherTrueNorFalse() {
        TableEnvironment tables =
                new SqlComparison().with(table("a")).with(table("b")).environment();
        tables.getConfig().set("gpu-join.sql.enabled", "off");
        assertThatThrownBy(() -> tables.explainSql(JOIN))
                .hasMessage("Wrong value: gpu-join.sql.enabled=off. Use true or false.")
                .hasNoCause();
    }

    @Test
    void shouldPassColumnsOfAllTypes() throws Exception {
        List<Row> rows = List.of(row(1), row(2), new Row(21));
        String columns =
                "(id INT, b BOOLEAN, t TINYINT, s SMALLINT, l BIGINT, f FLOAT, d DOUBLE, de DECIMAL(10, 2),"
                        + " bd DECIMAL(38, 18), c CHAR(3), vc STRING, bin BYTES, da DATE, ti TIME(0), ts"
                        + " TIMESTAMP(3), ts9 TIMESTAMP(9), lz TIMESTAMP_LTZ(3), ar ARRAY<INT>, m MAP<STRING,"
                        + " INT>, r ROW<x INT, y STRING>, ars ARRAY<ROW<x INT>>) WITH"
                        + " ('connector'='values','data-id'='%s')";
        SqlComparison join = new SqlComparison();
        for (String name : List.of("a", "b")) {
            join.with(
                    "CREATE TABLE "
                            + name
                            + columns.formatted(TestValuesTableFactory.registerData(rows)));
        }
        join.assertEqual("SELECT * FROM a FULL JOIN b ON a.id = b.id");
        for (String key :
                List.of("de", "bd", "c", "vc", "bin", "da", "ti", "ts", "ts9", "lz", "b", "l")) {
            String query = "SELECT a.id, b.* FROM a LEFT JOIN b ON a.%1$s = b.%1$s".formatted(key);
            assertThat(join.explain(query)).contains("GpuJoin(");
            join.assertEqual(query);
        }
    }

    private static Row row(int i) {
        return Row.of(
                i,
                i == 1,
                (byte) i,
                (short) i,
                (long) i,
                i / 2f,
                i / 3d,
                new BigDecimal(i + ".25"),
                new BigDecimal("12345678901234567890.123456789012345678")
                        .add(BigDecimal.valueOf(i)),
                "ab" + i,
                "text " + i,
                new byte[] {(byte) i, 2},
                LocalDate.of(2026, 1, i),
                LocalTime.of(1, 2, i),
                LocalDateTime.of(2026, 1, 1, 0, 0, i),
                LocalDateTime.of(2026, 1, 1, 0, 0, i, 123456789),
                Instant.ofEpochSecond(i),
                new Integer[] {i, null},
                Map.of("k", i),
                Row.of(i, "y"),
                new Row[] {Row.of(i)});
    }
}
