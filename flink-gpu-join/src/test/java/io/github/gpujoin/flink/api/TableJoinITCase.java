// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.TableJoinScenario.batch;
import static io.github.gpujoin.flink.api.TableJoinScenario.numbers;
import static io.github.gpujoin.flink.api.TableJoinScenario.sql;
import static io.github.gpujoin.flink.api.TableJoinScenario.streams;
import static io.github.gpujoin.flink.api.TableJoinScenario.texts;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.TableJoinScenario.KeyType;
import java.util.List;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins of tables by keys of all types return what SQL joins return. */
class TableJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    @ParameterizedTest(name = "{0} and {1}: {2}, nullSafe={3}")
    @CsvSource({
        "INT, , inner, false",
        "BOOLEAN, , semi, false",
        "BIGINT, , left, true",
        "DATE, , full, false",
        "TIMESTAMP_3, , anti, false",
        "TIMESTAMP_9, , left, false",
        "TIMESTAMP_LTZ, , right, false",
        "DECIMAL_10, , inner, false",
        "DECIMAL_38, , full, true",
        "STRING, , left, false",
        "BYTES, , inner, false",
        "DOUBLE, , inner, false",
        "TINYINT, , left, false",
        "SMALLINT, , anti, false",
        "SMALLINT, TINYINT, full, true",
        "STRING, INT, full, false",
        "STRING, DATE, anti, true",
        "INT, BOOLEAN, semi, true",
        "DECIMAL_38, TIMESTAMP_9, inner, true"
    })
    void shouldJoinAsSqlDoes(KeyType first, KeyType second, String kind, boolean nullSafe)
            throws Exception {
        long seed = 17L * first.ordinal() + kind.length();
        KeyType other = second == null ? KeyType.INT : second;
        StreamTableEnvironment tables = streams(first, other, seed);
        TableJoin join =
                TableJoin.in(tables).build(tables.from("b")).probe(tables.from("p")).on("pk", "bk");
        if (second != null) {
            join.on("pl", "bl");
        }
        if (nullSafe) {
            join.nullSafe();
        }
        List<String> actual = numbers(tables, join, kind);

        TableEnvironment batch = batch(first, other, seed);
        assertThat(actual)
                .as("seed=%s", seed)
                .containsExactlyInAnyOrderElementsOf(
                        texts(batch.sqlQuery(sql(kind, second != null, nullSafe))));
    }

    @Test
    void shouldReturnEveryColumnUnchanged() throws Exception {
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(StreamExecutionEnvironment.getExecutionEnvironment());
        Table build =
                tables.sqlQuery(
                        "SELECT * FROM (VALUES (1, ARRAY['a', 'b'], ROW(1.50, DATE '2024-02-29')))"
                                + " AS t(id, tags, nested)");
        Table probe = tables.sqlQuery("SELECT * FROM (VALUES (CAST(1 AS BIGINT), 'x')) AS t(f, g)");

        Table joined = TableJoin.in(tables).build(build).probe(probe).on("f", "id").toTable();

        assertThat(joined.getResolvedSchema().getColumnNames())
                .containsExactly("f", "g", "id", "tags", "nested");
        assertThat(texts(joined)).containsExactly("+I[1, x, 1, [a, b], +I[1.50, 2024-02-29]]");
    }

    @ParameterizedTest(name = "changelog={0}")
    @ValueSource(booleans = {false, true})
    void shouldNumberBuildColumnsWhoseNamesAreTaken(boolean changelog) throws Exception {
        StreamTableEnvironment tables =
                StreamTableEnvironment.create(StreamExecutionEnvironment.getExecutionEnvironment());
        Table build = tables.sqlQuery("SELECT * FROM (VALUES (1, 'b', 'c')) AS t(id, a, a0)");
        Table probe = tables.sqlQuery("SELECT * FROM (VALUES (1, 'p')) AS t(id, a)");
        TableJoin.Tables in = TableJoin.in(tables);

        Table joined =
                (changelog ? in.buildChangelog(build) : in.build(build))
                        .probe(probe)
                        .on("id", "id")
                        .left()
                        .toTable();

        assertThat(joined.getResolvedSchema().getColumnNames())
                .containsExactly("id", "a", "id0", "a1", "a0");
        if (!changelog) {
            assertThat(texts(joined)).containsExactly("+I[1, p, 1, b, c]");
        }
    }
}
