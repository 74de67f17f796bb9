// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.TableJoinScenario.numbers;
import static io.github.gpujoin.flink.api.TableJoinScenario.rows;
import static io.github.gpujoin.flink.api.TableJoinScenario.sql;
import static io.github.gpujoin.flink.api.TableJoinScenario.texts;
import static io.github.gpujoin.flink.api.TableJoinScenario.type;
import static io.github.gpujoin.flink.api.TableJoinScenario.value;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.flink.api.TableJoinScenario.KeyType;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.EnvironmentSettings;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.TableEnvironment;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.runtime.typeutils.ExternalTypeInfo;
import org.apache.flink.table.types.DataType;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins with the rows that a changelog leaves return what SQL joins return in the end. */
class TableJoinChangelogITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** Facts wait for the last change, so that they see the rows that SQL joins at the end. */
    @ParameterizedTest(name = "{0} and {1}: {2}, replicated={3}")
    @CsvSource({
        "INT, , inner, false",
        "INT, , left, true",
        "BIGINT, , left, false",
        "DATE, , semi, true",
        "DATE, , inner, false",
        "DOUBLE, , anti, false",
        "INT, INT, inner, false",
        "INT, BOOLEAN, left, true",
        "INT, INT, anti, false",
        "STRING, , inner, false",
        "STRING, , left, true",
        "STRING, INT, anti, false",
        "BIGINT, STRING, left, false",
        "DECIMAL_38, , semi, false",
        "DECIMAL_10, DATE, inner, true",
        "TIMESTAMP_LTZ, , anti, true",
        "TIMESTAMP_9, , left, false"
    })
    void shouldJoinWithTheFinalRowsOfAChangelogAsSqlDoes(
            KeyType first, KeyType second, String kind, boolean replicated) throws Exception {
        long seed = 5L * first.ordinal() + kind.length();
        Random random = new Random(seed);
        KeyType other = second == null ? KeyType.STRING : second;
        List<Row> left = new ArrayList<>();
        List<Row> changes = changelog(random, first, other, 400, left);
        List<Row> probes = rows(random, first, other, 60);
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        DataStream<Row> stream =
                env.fromData(changes, ExternalTypeInfo.of(type("b", first, other)));
        Table build =
                second == null
                        ? tables.fromChangelogStream(stream)
                        : tables.fromChangelogStream(stream, keyed(first, second));
        tables.createTemporaryView(
                "p", env.fromData(probes, ExternalTypeInfo.of(type("p", first, other))));
        TableJoin join =
                TableJoin.in(tables)
                        .buildChangelog(build)
                        .probe(tables.from("p"))
                        .on("pk", "bk")
                        .completeAtWatermark(Long.MAX_VALUE);
        if (second != null) {
            join.on("pl", "bl");
        }
        if (replicated) {
            join.replicated();
        }
        List<String> actual = numbers(tables, join, kind);

        TableEnvironment batch = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        batch.createTemporaryView("b", batch.fromValues(type("b", first, other), left.toArray()));
        batch.createTemporaryView("p", batch.fromValues(type("p", first, other), probes.toArray()));
        assertThat(actual)
                .as("seed=%s", seed)
                .containsExactlyInAnyOrderElementsOf(
                        texts(batch.sqlQuery(sql(kind, second != null, false))));
    }

    /** A row and the deletion of its predecessor arrive from different subtasks of a SQL join. */
    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldFollowRowsOfAJoinThatMoveBetweenItsSubtasks(long seed) throws Exception {
        Random random = new Random(seed);
        List<Row> left = new ArrayList<>();
        List<Row> changes = changelog(random, KeyType.INT, KeyType.INT, 4000, left);
        List<Row> probes = rows(random, KeyType.INT, KeyType.INT, 60);
        List<Row> others = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            others.add(Row.of(KeyType.INT.value(i), null, i));
        }
        String joined = "SELECT ak AS bk, ck AS bl, an AS bn FROM a JOIN c ON al = ck";
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        tables.createTemporaryView(
                "a",
                tables.fromChangelogStream(env.fromData(changes, ExternalTypeInfo.of(ints("a")))));
        tables.createTemporaryView("c", env.fromData(others, ExternalTypeInfo.of(ints("c"))));
        tables.createTemporaryView("p", env.fromData(probes, ExternalTypeInfo.of(ints("p"))));
        TableJoin join =
                TableJoin.in(tables)
                        .buildChangelog(tables.sqlQuery(joined))
                        .probe(tables.from("p"))
                        .on("pk", "bk")
                        .completeAtWatermark(Long.MAX_VALUE);
        List<String> actual = numbers(tables, join, "left");

        TableEnvironment batch = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        batch.createTemporaryView("a", batch.fromValues(ints("a"), left.toArray()));
        batch.createTemporaryView("c", batch.fromValues(ints("c"), others.toArray()));
        batch.createTemporaryView("p", batch.fromValues(ints("p"), probes.toArray()));
        batch.createTemporaryView("b", batch.sqlQuery(joined));
        assertThat(actual)
                .as("seed=%s", seed)
                .containsExactlyInAnyOrderElementsOf(
                        texts(batch.sqlQuery(sql("left", false, false))));
    }

    /** Returns changes of rows with unique keys, and adds the final rows to {@code left}. */
    private static List<Row> changelog(
            Random random, KeyType first, KeyType second, int count, List<Row> left) {
        Map<Object, Row> rows = new LinkedHashMap<>();
        List<Row> changes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            Object key = first.value(random.nextInt(12));
            Row old = rows.remove(key);
            if (old != null && random.nextInt(3) == 0) {
                changes.add(ofKind(RowKind.DELETE, old));
                continue;
            }
            Row row = Row.of(key, value(random, second, 3), i);
            if (old != null) {
                changes.add(ofKind(RowKind.UPDATE_BEFORE, old));
            }
            changes.add(ofKind(old == null ? RowKind.INSERT : RowKind.UPDATE_AFTER, row));
            rows.put(key, row);
        }
        left.addAll(rows.values());
        return changes;
    }

    private static Row ofKind(RowKind kind, Row row) {
        Row copy = Row.copy(row);
        copy.setKind(kind);
        return copy;
    }

    /** The key is the first column, so that an update may change the second. */
    private static Schema keyed(KeyType first, KeyType second) {
        return Schema.newBuilder()
                .column("bk", first.type.notNull())
                .column("bl", second.type)
                .column("bn", DataTypes.INT())
                .primaryKey("bk")
                .build();
    }

    private static DataType ints(String side) {
        return type(side, KeyType.INT, KeyType.INT);
    }
}
