// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.LongStream;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.util.ratelimit.RateLimiterStrategy;
import org.apache.flink.api.java.tuple.Tuple2;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.datagen.source.DataGeneratorSource;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.core.execution.SavepointFormatType;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.BigIntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Restores rows that waited when the savepoint was taken, and records in fields of records, by a
 * job whose columns differ.
 */
class RestoredWaitingRowsITCase extends RestoredJobs {

    private static final AtomicInteger READ = new AtomicInteger();

    @BeforeEach
    void resetRead() {
        READ.set(0);
    }

    // ------------------------------------------------------------------ records in fields

    private static TypeInformation<Row> nested(String... names) {
        return Types.ROW_NAMED(
                new String[] {"key", "pair"},
                Types.LONG,
                Types.ROW_NAMED(names, Types.LONG, Types.LONG));
    }

    @Test
    void shouldRefuseSwappedFieldsOfNestedRow() throws Exception {
        String savepoint = stop("hashmap", rows(nested("a", "b")));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", rows(nested("b", "a"))))
                .hasStackTraceContaining("Records of dimension 'build' cannot be restored")
                .hasStackTraceContaining("Field 'pair' was");
        restore(savepoint, "hashmap", rows(nested("a", "b")));
    }

    private static Job rows(TypeInformation<Row> type) {
        return whole(
                type,
                k -> Row.of(k, Row.of(10 * k + 1, 10 * k + 2)),
                row -> row.getFieldAs(0),
                (row, fact) -> row.<Row>getFieldAs(1).getField(0) + "|");
    }

    @Test
    void shouldRefuseSwappedFieldsOfRowInTuple() throws Exception {
        String savepoint = stop("hashmap", tuples("a", "b"));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", tuples("b", "a")))
                .hasStackTraceContaining("Records of dimension 'build' cannot be restored");
        restore(savepoint, "hashmap", tuples("a", "b"));
    }

    private static Job tuples(String... names) {
        TypeInformation<Row> pair = Types.ROW_NAMED(names, Types.LONG, Types.LONG);
        return whole(
                Types.TUPLE(Types.LONG, pair),
                k -> Tuple2.of(k, Row.of(10 * k + 1, 10 * k + 2)),
                tuple -> (Long) tuple.getField(0),
                (tuple, fact) -> tuple.getField(1) + "|");
    }

    @Test
    void shouldRefuseSwappedFieldsOfRowsInList() throws Exception {
        String savepoint = stop("hashmap", lists("a", "b"));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", lists("b", "a")))
                .hasStackTraceContaining("Field 'pairs' was");
        restore(savepoint, "hashmap", lists("a", "b"));
    }

    private static Job lists(String... names) {
        TypeInformation<Row> pair = Types.ROW_NAMED(names, Types.LONG, Types.LONG);
        return whole(
                Types.ROW_NAMED(new String[] {"key", "pairs"}, Types.LONG, Types.LIST(pair)),
                k -> Row.of(k, List.of(Row.of(10 * k + 1, 10 * k + 2))),
                row -> row.getFieldAs(0),
                (row, fact) -> row.getField(1) + "|");
    }

    @Test
    void shouldRefuseSwappedFieldsOfNestedRowData() throws Exception {
        String savepoint = stop("hashmap", rowData("a", "b"));
        assertThatThrownBy(() -> restore(savepoint, "hashmap", rowData("b", "a")))
                .hasStackTraceContaining("Field 'pair' was");
        restore(savepoint, "hashmap", rowData("a", "b"));
    }

    private static Job rowData(String... names) {
        LogicalType[] types = {new BigIntType(), new BigIntType()};
        LogicalType[] outer = {new BigIntType(), RowType.of(types, names)};
        return whole(
                (TypeInformation<RowData>)
                        InternalTypeInfo.of(RowType.of(outer, new String[] {"key", "pair"})),
                k -> GenericRowData.of(k, GenericRowData.of(10 * k + 1, 10 * k + 2)),
                row -> row.getLong(0),
                (row, fact) -> row.getRow(1, 2).getLong(0) + "|");
    }

    @Test
    void shouldRestoreSelectedRowByNamesOfItsFields() throws Exception {
        String savepoint = stop("hashmap", selectedPair("a", "b"));
        RESULTS.clear();
        restore(savepoint, "hashmap", selectedPair("b", "a"));
        assertThat(RESULTS.stream().distinct())
                .containsExactlyInAnyOrderElementsOf(
                        LongStream.range(0, KEYS)
                                .mapToObj(k -> (10 * k + 1) + "|" + (10 * k + 2))
                                .toList());
    }

    private static Job selectedPair(String... names) {
        boolean swapped = names[0].equals("b");
        return (env, paced) ->
                sink(
                        StarJoin.of(facts(env, paced))
                                .dimension(
                                        numbers(env, "numbers", KEYS)
                                                .map(
                                                        k ->
                                                                Row.of(
                                                                        k,
                                                                        Row.of(
                                                                                10 * k
                                                                                        + (swapped
                                                                                                ? 2
                                                                                                : 1),
                                                                                10 * k
                                                                                        + (swapped
                                                                                                ? 1
                                                                                                : 2))),
                                                        nested(names)),
                                        d -> d.named("numbers").on("key", "key").select("pair"))
                                .uid("join")
                                .toRows()
                                .map(row -> row.<Row>getFieldAs(0))
                                .returns(Types.ROW_NAMED(names, Types.LONG, Types.LONG))
                                .map(
                                        pair ->
                                                pair.getField(swapped ? 1 : 0)
                                                        + "|"
                                                        + pair.getField(swapped ? 0 : 1))
                                .returns(Types.STRING));
    }

    // ------------------------------------------------------------------ rows that wait

    /** The facts wait for the dimension, whose last rows are not read before the savepoint. */
    @Test
    void shouldRestoreFactsThatWaitedForDimension() throws Exception {
        String savepoint = stopWaiting(waiting("a", "b"));
        assertThat(RESULTS).isEmpty();
        restore(savepoint, "hashmap", waiting("b", "a"));
        assertThat(RESULTS).hasSize(KEYS);
        assertThat(RESULTS).containsExactlyInAnyOrderElementsOf(pairs());
    }

    private static List<String> pairs() {
        return LongStream.range(0, KEYS).mapToObj(k -> (10 * k + 1) + "|" + (10 * k + 2)).toList();
    }

    private static Job waiting(String... columns) {
        return (env, paced) ->
                sink(
                        StarJoin.of(timed(env, "facts", KEYS, false))
                                .select(columns)
                                .dimension(
                                        timed(env, "numbers", KEYS, paced),
                                        d -> d.named("numbers").on("key", "key").partitioned())
                                .uid("join")
                                .toRows()
                                .map(row -> row.getField("a") + "|" + row.getField("b"))
                                .returns(Types.STRING));
    }

    /** Facts and versions wait for the watermark, which the slower side of both holds back. */
    @Test
    void shouldRestoreRowsThatWaitedForTheirEventTime() throws Exception {
        String savepoint = stopWaiting(versioned("a", "b"));
        assertThat(RESULTS).hasSizeLessThan(KEYS);
        restore(savepoint, "hashmap", versioned("b", "a"));
        assertThat(RESULTS).hasSize(KEYS);
        assertThat(RESULTS)
                .containsExactlyInAnyOrderElementsOf(
                        pairs().stream().map(pair -> pair + "," + pair).toList());
    }

    private static Job versioned(String... columns) {
        String[] renamed = {columns[0] + " AS v" + columns[0], columns[1] + " AS v" + columns[1]};
        return (env, paced) ->
                sink(
                        StarJoin.of(timed(env, "facts", KEYS, false))
                                .select(columns)
                                .dimension(
                                        timed(env, "numbers", KEYS, paced),
                                        d ->
                                                d.named("numbers")
                                                        .on("key", "key")
                                                        .versioned()
                                                        .select(renamed))
                                .uid("join")
                                .toRows()
                                .map(
                                        row ->
                                                row.getField("a")
                                                        + "|"
                                                        + row.getField("b")
                                                        + ","
                                                        + row.getField("va")
                                                        + "|"
                                                        + row.getField("vb"))
                                .returns(Types.STRING));
    }

    /** Row k is of event time k; paced, the source does not end while the test lasts. */
    private static DataStream<Row> timed(
            StreamExecutionEnvironment env, String name, int rows, boolean paced) {
        RateLimiterStrategy rate =
                paced ? RateLimiterStrategy.perSecond(2) : RateLimiterStrategy.noOp();
        return env.fromSource(
                        new DataGeneratorSource<>(k -> k, rows, rate, Types.LONG),
                        WatermarkStrategy.<Long>forBoundedOutOfOrderness(Duration.ZERO)
                                .withTimestampAssigner((k, at) -> k),
                        name)
                .uid(name)
                .map(
                        k -> {
                            READ.incrementAndGet();
                            return Row.of(k, 10 * k + 1, 10 * k + 2);
                        })
                .returns(
                        Types.ROW_NAMED(
                                new String[] {"key", "a", "b"},
                                Types.LONG,
                                Types.LONG,
                                Types.LONG));
    }

    /** Stops a job once all facts, and a few rows of the dimension, are in the join. */
    private String stopWaiting(Job job) throws Exception {
        JobClient client = start(new Configuration(), "hashmap", job, true);
        while (READ.get() < KEYS + 4) {
            assertThat(client.getJobExecutionResult()).isNotDone();
            TimeUnit.MILLISECONDS.sleep(20);
        }
        return client.stopWithSavepoint(
                        false, folder().toUri().toString(), SavepointFormatType.CANONICAL)
                .get(60, TimeUnit.SECONDS);
    }
}
