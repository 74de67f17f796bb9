// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.time.Instant;
import java.time.LocalDate;
import java.time.LocalDateTime;
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
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Joins of tables by keys of all types give what Flink's own SQL joins give. */
class TableJoinITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    /** Types of key columns, and few values of each, so that many are equal. */
    enum KeyType {
        BOOLEAN(DataTypes.BOOLEAN()),
        INT(DataTypes.INT()),
        BIGINT(DataTypes.BIGINT()),
        DATE(DataTypes.DATE()),
        TIMESTAMP_3(DataTypes.TIMESTAMP(3)),
        TIMESTAMP_9(DataTypes.TIMESTAMP(9)),
        TIMESTAMP_LTZ(DataTypes.TIMESTAMP_LTZ(6)),
        DECIMAL_10(DataTypes.DECIMAL(10, 2)),
        DECIMAL_38(DataTypes.DECIMAL(38, 5)),
        STRING(DataTypes.STRING()),
        BYTES(DataTypes.BYTES()),
        DOUBLE(DataTypes.DOUBLE());

        private final DataType type;

        KeyType(DataType type) {
            this.type = type;
        }

        private Object value(int n) {
            return switch (this) {
                case BOOLEAN -> n % 2 == 0;
                case INT -> n - 5;
                case BIGINT -> (long) n << 40;
                case DATE -> LocalDate.of(1969, 12, 25).plusDays(n);
                case TIMESTAMP_3 -> LocalDateTime.of(1969, 12, 31, 23, 59, 59, n * 1_000_000);
                case TIMESTAMP_9 -> LocalDateTime.of(2024, 2, 29, 0, 0, 0, n);
                case TIMESTAMP_LTZ -> Instant.ofEpochSecond(n % 3, n * 1_000L);
                case DECIMAL_10 -> BigDecimal.valueOf(n, 2);
                case DECIMAL_38 -> new BigDecimal("9".repeat(33) + "." + (10_000 + n));
                case STRING -> "key ".repeat(n);
                case BYTES -> new byte[] {(byte) n, 0};
                case DOUBLE -> n / 8.0;
            };
        }
    }

    private static List<Row> rows(Random random, KeyType first, KeyType second, int count) {
        List<Row> rows = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            rows.add(Row.of(value(random, first, 12), value(random, second, 3), i));
        }
        return rows;
    }

    private static Object value(Random random, KeyType type, int values) {
        return random.nextInt(8) == 0 ? null : type.value(random.nextInt(values));
    }

    private static DataType type(String side, KeyType first, KeyType second) {
        return DataTypes.ROW(
                        DataTypes.FIELD(side + "k", first.type),
                        DataTypes.FIELD(side + "l", second.type),
                        DataTypes.FIELD(side + "n", DataTypes.INT()))
                .notNull();
    }

    private static StreamTableEnvironment streams(KeyType first, KeyType second, long seed) {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        Random random = new Random(seed);
        for (String side : List.of("b", "p")) {
            tables.createTemporaryView(
                    side,
                    env.fromData(
                            rows(random, first, second, 50),
                            ExternalTypeInfo.of(type(side, first, second))));
        }
        return tables;
    }

    private static TableEnvironment batch(KeyType first, KeyType second, long seed) {
        TableEnvironment tables = TableEnvironment.create(EnvironmentSettings.inBatchMode());
        Random random = new Random(seed);
        for (String side : List.of("b", "p")) {
            List<Row> rows = rows(random, first, second, 50);
            tables.createTemporaryView(side, tables.fromValues(type(side, first, second), rows));
        }
        return tables;
    }

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

    /** A changelog of rows of one key each, with what is left of it. */
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

    /** Facts wait for the end of the changes, so what they see is what SQL joins in the end. */
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
        "INT, INT, anti, false"
    })
    void shouldJoinWithWhatIsLeftOfAChangelogAsSqlDoes(
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

    /** One row for each first column, so that an update may move it to another second one. */
    private static Schema keyed(KeyType first, KeyType second) {
        return Schema.newBuilder()
                .column("bk", first.type.notNull())
                .column("bl", second.type)
                .column("bn", DataTypes.INT())
                .primaryKey("bk")
                .build();
    }

    /** The new row and the end of the old one come from different subtasks of Flink's join. */
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

    private static DataType ints(String side) {
        return type(side, KeyType.INT, KeyType.INT);
    }

    @Test
    void shouldRefuseBuildTableThatNeverEnds() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.INT, 1);
        tables.executeSql("CREATE TEMPORARY TABLE endless (id INT) WITH ('connector'='datagen')");
        TableJoin join =
                TableJoin.in(tables)
                        .build(tables.from("endless"))
                        .probe(tables.from("p"))
                        .on("pk", "id");
        assertThatThrownBy(join::toTable)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Dimension 'build' is never complete")
                .hasMessageEndingWith("Use a bounded table, or .buildChangelog(table).");
    }

    @Test
    void shouldRefuseChangelogsThatItCannotJoinWith() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.STRING, 1);
        Table counts = tables.sqlQuery("SELECT bk, COUNT(*) AS c FROM b GROUP BY bk");
        Table texts = tables.sqlQuery("SELECT bl, COUNT(*) AS c FROM b GROUP BY bl");
        Table keyed =
                tables.fromChangelogStream(
                        tables.toChangelogStream(counts),
                        Schema.newBuilder()
                                .column("bk", DataTypes.INT().notNull())
                                .column("c", DataTypes.BIGINT())
                                .primaryKey("bk")
                                .build());
        Table probe = tables.from("p");
        TableJoin.Tables in = TableJoin.in(tables);

        assertThatThrownBy(() -> in.buildChangelog(counts).probe(counts))
                .hasMessage(
                        "Rows of the probe table are updated or deleted. Make it the build table, by"
                                + " .buildChangelog(table), or join it in SQL.");
        assertThatThrownBy(
                        () ->
                                in.buildChangelog(counts)
                                        .probe(probe)
                                        .on("pk", "bk")
                                        .full()
                                        .toTable())
                .hasMessageStartingWith("A FULL join needs a build table that does not change");
        assertThatThrownBy(
                        () ->
                                in.buildChangelog(counts)
                                        .probe(probe)
                                        .on("pk", "bk")
                                        .nullSafe()
                                        .toTable())
                .hasMessageContaining("column=bk, type=INT");
        assertThatThrownBy(() -> in.buildChangelog(texts).probe(probe).on("pl", "bl").toTable())
                .hasMessageStartingWith("Key of a changelog exceeds 64 bits");
        assertThatThrownBy(() -> in.buildChangelog(keyed).probe(probe).on("pn", "c").toTable())
                .hasMessageContaining("primaryKey=[bk], key=[c]");
        assertThatThrownBy(
                        () ->
                                in.build(probe)
                                        .probe(probe)
                                        .on("pk", "pk")
                                        .completeAtWatermark(1)
                                        .toTable())
                .hasMessageContaining("watermark=1");
    }

    private static String sql(String kind, boolean composite, boolean nullSafe) {
        String equal = nullSafe ? "IS NOT DISTINCT FROM" : "=";
        String on = "pk " + equal + " bk" + (composite ? " AND pl " + equal + " bl" : "");
        return switch (kind) {
            case "semi" -> "SELECT DISTINCT pn FROM p JOIN b ON " + on;
            case "anti" -> "SELECT pn FROM p LEFT JOIN b ON " + on + " WHERE bn IS NULL";
            default -> "SELECT pn, bn FROM p " + kind + " JOIN b ON " + on;
        };
    }

    /** Numbers of the probe rows, and of the build rows that they are joined with. */
    private static List<String> numbers(StreamTableEnvironment tables, TableJoin join, String kind)
            throws Exception {
        switch (kind) {
            case "left" -> join.left();
            case "right" -> join.right();
            case "full" -> join.full();
            case "semi" -> join.semi();
            case "anti" -> join.anti();
            default -> {}
        }
        tables.createTemporaryView("joined", join.toTable());
        boolean pairs = !kind.equals("semi") && !kind.equals("anti");
        return texts(
                tables.sqlQuery(pairs ? "SELECT pn, bn FROM joined" : "SELECT pn FROM joined"));
    }

    private static List<String> texts(Table table) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<Row> rows = table.execute().collect()) {
            rows.forEachRemaining(row -> texts.add(row.toString()));
        }
        return texts;
    }

    @Test
    void shouldKeepEveryColumnAsItIs() throws Exception {
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

    @Test
    void shouldRefuseTablesThatChangeAndColumnsThatAreNotThere() {
        StreamTableEnvironment tables = streams(KeyType.INT, KeyType.INT, 1);
        Table counts = tables.sqlQuery("SELECT bk, COUNT(*) AS c FROM b GROUP BY bk");
        Table probe = tables.from("p");

        assertThatThrownBy(() -> TableJoin.in(tables).build(counts))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Rows of the build table are updated or deleted. Use .buildChangelog(table).");
        TableJoin join = TableJoin.in(tables).build(probe).probe(probe);
        assertThatThrownBy(() -> join.on("pk", "missing"))
                .hasMessage(
                        "The build table has no column 'missing'. Its columns are [pk, pl, pn].");
        assertThatThrownBy(join::toTable).hasMessageStartingWith("No key columns");
        TableJoin other = TableJoin.in(tables).build(tables.from("b")).probe(probe);
        assertThatThrownBy(() -> other.on("bk", "pk"))
                .hasMessage(
                        "The probe table has no column 'bk'. The build table has one: the order is"
                                + " .on(probeColumn, buildColumn).");
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
