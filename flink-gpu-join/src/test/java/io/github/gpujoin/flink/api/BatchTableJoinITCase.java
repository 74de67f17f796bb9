// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.TableJoinScenario.batch;
import static io.github.gpujoin.flink.api.TableJoinScenario.numbers;
import static io.github.gpujoin.flink.api.TableJoinScenario.sql;
import static io.github.gpujoin.flink.api.TableJoinScenario.streams;
import static io.github.gpujoin.flink.api.TableJoinScenario.texts;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.TableJoinScenario.KeyType;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Joins of tables in batch mode return what SQL joins return. */
@ExtendWith(RegionLeakExtension.class)
class BatchTableJoinITCase {

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
        "BIGINT, , left, true",
        "DATE, , full, false",
        "DECIMAL_38, , full, true",
        "STRING, , right, false",
        "BYTES, , anti, false",
        "SMALLINT, TINYINT, semi, true",
        "STRING, DATE, left, false"
    })
    void shouldJoinAsSqlDoes(KeyType first, KeyType second, String kind, boolean nullSafe)
            throws Exception {
        long seed = 17L * first.ordinal() + kind.length();
        KeyType other = second == null ? KeyType.INT : second;
        StreamTableEnvironment tables = streams(environment(), first, other, seed);
        TableJoin join =
                TableJoin.in(tables).build(tables.from("b")).probe(tables.from("p")).on("pk", "bk");
        if (second != null) {
            join.on("pl", "bl");
        }
        if (nullSafe) {
            join.nullSafe();
        }
        assertThat(numbers(tables, join, kind))
                .as("seed=%s", seed)
                .containsExactlyInAnyOrderElementsOf(
                        texts(
                                batch(first, other, seed)
                                        .sqlQuery(sql(kind, second != null, nullSafe))));
    }

    @Test
    void shouldJoinValuesOfSql() throws Exception {
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment());
        Table build = tables.sqlQuery("SELECT * FROM (VALUES (1, 'a'), (2, 'b')) AS t(id, name)");
        Table probe = tables.sqlQuery("SELECT * FROM (VALUES (2, 5), (3, 6)) AS t(k, n)");
        Table joined =
                TableJoin.in(tables).build(build).probe(probe).on("k", "id").left().toTable();
        tables.createTemporaryView("joined", joined);
        assertThat(texts(tables.sqlQuery("SELECT n, name FROM joined WHERE n < 10")))
                .containsExactlyInAnyOrderElementsOf(List.of("+I[5, b]", "+I[6, null]"));
    }

    @Test
    void shouldRefuseChangelog() {
        StreamTableEnvironment tables = StreamTableEnvironment.create(environment());
        Table build = tables.sqlQuery("SELECT * FROM (VALUES (1, 'a')) AS t(id, name)");
        Table probe = tables.sqlQuery("SELECT * FROM (VALUES (1, 5)) AS t(k, n)");
        TableJoin join = TableJoin.in(tables).buildChangelog(build).probe(probe).on("k", "id");
        assertThatThrownBy(join::toTable)
                .hasMessageContaining("Batch mode has no changelog: dimension=build.");
    }

    private static StreamExecutionEnvironment environment() {
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        return StreamExecutionEnvironment.getExecutionEnvironment(config);
    }
}
