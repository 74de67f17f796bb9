// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.flink.api.data.BadRecord;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.table.api.DataTypes;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.Table;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Conditions, distribution, explanations, bad records and rowtime of joins of tables. */
class TableJoinOptionsITCase {

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private final StreamTableEnvironment tables =
            StreamTableEnvironment.create(
                    StreamExecutionEnvironment.getExecutionEnvironment().setParallelism(2));

    private Table build() {
        return tables.sqlQuery("SELECT * FROM (VALUES (1, 10), (1, 20), (2, 30)) AS t(id, low)");
    }

    private Table probe() {
        return tables.sqlQuery("SELECT * FROM (VALUES (1, 15), (2, 15), (3, 15)) AS t(k, price)");
    }

    private TableJoin join() {
        return TableJoin.in(tables).build(build()).probe(probe()).on("k", "id");
    }

    @Test
    void shouldConvertAChangelogOnceForAnExplanationAndTheResult() {
        assertThat(operatorCount(true)).isEqualTo(operatorCount(false));
    }

    private static int operatorCount(boolean explained) {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        Table highest =
                tables.sqlQuery(
                        "SELECT id, MAX(low) AS high FROM (VALUES (1, 10), (1, 20)) AS t(id, low)"
                                + " GROUP BY id");
        Table facts = tables.sqlQuery("SELECT * FROM (VALUES (1, 15)) AS t(k, price)");
        TableJoin join = TableJoin.in(tables).buildChangelog(highest).probe(facts).on("k", "id");
        if (explained) {
            assertThat(join.explain().toString()).contains("build");
        }
        tables.toDataStream(join.toTable()).sinkTo(new DiscardingSink<>());
        return env.getStreamGraph(false).getStreamNodes().size();
    }

    private static List<String> texts(Table table) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<Row> rows = table.execute().collect()) {
            rows.forEachRemaining(row -> texts.add(row.toString()));
        }
        return texts;
    }

    @Test
    void shouldJoinRowsThatMeetTheCondition() throws Exception {
        Table joined = join().left().matching((b, p) -> b.getInt(1) < p.getInt(1)).toTable();

        assertThat(texts(joined))
                .containsExactlyInAnyOrder(
                        "+I[1, 15, 1, 10]", "+I[2, 15, null, null]", "+I[3, 15, null, null]");
    }

    @Test
    void shouldNameAConditionThatReturnsNull() {
        assertThatThrownBy(() -> texts(join().matching((b, p) -> null).toTable()))
                .hasStackTraceContaining("The condition " + getClass().getName())
                .hasStackTraceContaining("of .matching(...) returned null. Return true or false.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"", " "})
    void shouldRejectABlankUid(String uid) {
        DataStream<Row> rows = tables.toDataStream(build());
        String message =
                "Blank uid: '%s'. Name the join with .uid(...), or omit the call.".formatted(uid);
        TableJoin ofTables = join();
        StarJoin<Row> star = StarJoin.of(rows);
        PairJoin.Keyed<Row, Row> pair =
                PairJoin.build(rows)
                        .probe(rows)
                        .where(row -> 1L, Types.LONG)
                        .equalTo(row -> 1L, Types.LONG);

        for (ThrowingCallable call :
                List.<ThrowingCallable>of(
                        () -> ofTables.uid(uid), () -> star.uid(uid), () -> pair.uid(uid))) {
            assertThatThrownBy(call)
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessage(message);
        }
    }

    @Test
    void shouldLeadFromAnUpdatingQueryToBuildChangelog() {
        tables.createTemporaryView("lows", build());
        Table updated = tables.sqlQuery("SELECT id, MAX(low) AS low FROM lows GROUP BY id");
        TableJoin.Tables in = TableJoin.in(tables);

        assertThatThrownBy(() -> in.build(updated))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Rows of the build table are updated or deleted. Use .buildChangelog(table).");
        assertThat(in.buildChangelog(updated).probe(probe()).on("k", "id").toTable()).isNotNull();
    }

    @Test
    void shouldRejectAConditionOfAJoinWithAChangelog() {
        TableJoin join =
                TableJoin.in(tables)
                        .buildChangelog(build())
                        .probe(probe())
                        .on("k", "id")
                        .matching((b, p) -> true)
                        .uid("prices");

        assertThatThrownBy(join::toTable)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "A join with .buildChangelog(table) has a condition: uid=prices. Remove"
                                + " .matching(...) and filter the result, or use .build(table).");
    }

    @Test
    void shouldExplainWhetherTheBuildTableIsReplicated() {
        assertThat(join().explain().toString()).contains("PARTITIONED", "SIZE_UNKNOWN");
        assertThat(join().replicated().explain().toString()).contains("REPLICATED", "ASKED");
        assertThat(join().expectedBytes(100).explain().toString())
                .contains("REPLICATED", "WITHIN_LIMIT");
        assertThat(join().expectedBytes(100).partitioned().explain().toString())
                .contains("PARTITIONED", "ASKED");
        assertThatThrownBy(() -> TableJoin.in(tables).build(build()).probe(probe()).explain())
                .hasMessageStartingWith("No key columns");
    }

    @Test
    void shouldExplainAndThenBuildAJoinWithAChangelog() {
        TableJoin join =
                TableJoin.in(tables).buildChangelog(build()).probe(probe()).on("k", "id").left();

        assertThat(join.explain().toString()).contains("build", "LEFT");
        assertThat(join.toTable().getResolvedSchema().getColumnNames())
                .containsExactly("k", "price", "id", "low");
    }

    @ParameterizedTest(name = "changelog={0}")
    @ValueSource(booleans = {false, true})
    void shouldPassTheStreamOfBadRecordsToItsSink(boolean changelog) {
        List<DataStream<BadRecord>> streams = new ArrayList<>();
        TableJoin.Tables in = TableJoin.in(tables);
        (changelog ? in.buildChangelog(build()) : in.build(build()))
                .probe(probe())
                .on("k", "id")
                .badRecords(
                        bad -> {
                            streams.add(bad);
                            bad.sinkTo(new DiscardingSink<>());
                        })
                .toTable();

        assertThat(streams).hasSize(1);
    }

    private Table timedProbe() {
        return tables.fromDataStream(
                tables.toDataStream(
                        tables.sqlQuery(
                                "SELECT * FROM (VALUES "
                                        + IntStream.range(0, 25)
                                                .mapToObj("(%d)"::formatted)
                                                .collect(Collectors.joining(", "))
                                        + ") AS t(k)")),
                Schema.newBuilder()
                        .column("k", DataTypes.INT())
                        .columnByExpression("ts", "TO_TIMESTAMP_LTZ(k * 1000, 3)")
                        .watermark("ts", "ts")
                        .build());
    }

    @ParameterizedTest(name = "{0}, changelog={1}")
    @CsvSource({"left, false", "left, true", "anti, false"})
    void shouldKeepTheRowtimeOfTheProbeTable(String kind, boolean changelog) throws Exception {
        TableJoin.Tables in = TableJoin.in(tables);
        TableJoin join =
                (changelog ? in.buildChangelog(build()) : in.build(build()))
                        .probe(timedProbe())
                        .on("k", "id");
        Table joined = (kind.equals("left") ? join.left() : join.anti()).toTable();
        tables.createTemporaryView("joined", joined);

        List<String> windows =
                texts(
                        tables.sqlQuery(
                                "SELECT COUNT(DISTINCT k) FROM joined"
                                        + " GROUP BY TUMBLE(ts, INTERVAL '10' SECOND)"));

        assertThat(windows)
                .containsExactlyInAnyOrder(
                        kind.equals("left") ? "+I[10]" : "+I[8]", "+I[10]", "+I[5]");
    }

    @Test
    void shouldHaveNoRowtimeWhereTheProbeRowMayBeMissing() {
        Table joined =
                TableJoin.in(tables)
                        .build(build())
                        .probe(timedProbe())
                        .on("k", "id")
                        .full()
                        .toTable();

        assertThat(
                        LogicalTypeChecks.isTimeAttribute(
                                joined.getResolvedSchema()
                                        .getColumn("ts")
                                        .orElseThrow()
                                        .getDataType()
                                        .getLogicalType()))
                .isFalse();
    }
}
