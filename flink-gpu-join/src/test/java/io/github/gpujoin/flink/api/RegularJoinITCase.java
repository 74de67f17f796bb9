// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.functions.RichMapFunction;
import org.apache.flink.api.common.state.CheckpointListener;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.api.Schema;
import org.apache.flink.table.api.bridge.java.StreamTableEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.types.RowKind;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Regular joins leave the rows that the same joins leave in Flink SQL. */
class RegularJoinITCase {

    private static final int SLOTS = 4;
    private static final int CHANGES = 600;
    private static final int KEYS = 40;

    @RegisterExtension
    private static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(SLOTS)
                            .build());

    private static final TypeInformation<Row> LEFT =
            Types.ROW_NAMED(
                    new String[] {"lk", "lid", "lnote"}, Types.INT, Types.INT, Types.STRING);

    private static final TypeInformation<Row> RIGHT =
            Types.ROW_NAMED(
                    new String[] {"rk", "rid", "rnote"}, Types.INT, Types.INT, Types.STRING);

    /** Which rows are in an input, and what the planner knows of them. */
    enum Input {
        APPENDED,
        UPDATED_BY_ID,
        REPEATED
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}, hashed={3}")
    @CsvSource({
        "INNER, APPENDED, APPENDED, false",
        "INNER, UPDATED_BY_ID, REPEATED, true",
        "LEFT, APPENDED, APPENDED, false",
        "LEFT, REPEATED, UPDATED_BY_ID, true",
        "RIGHT, UPDATED_BY_ID, APPENDED, false",
        "FULL, REPEATED, REPEATED, false",
        "FULL, UPDATED_BY_ID, UPDATED_BY_ID, true",
        "SEMI, APPENDED, UPDATED_BY_ID, false",
        "SEMI, REPEATED, APPENDED, true",
        "ANTI, APPENDED, APPENDED, false",
        "ANTI, UPDATED_BY_ID, REPEATED, true"
    })
    void shouldLeaveTheRowsThatSqlLeaves(BulkJoinKind kind, Input left, Input right, boolean hashed)
            throws Exception {
        long seed = System.nanoTime();
        Random random = new Random(seed);
        List<Row> leftChanges = changes(left, random);
        List<Row> rightChanges = changes(right, random);
        List<Row> actual;
        List<Row> expected;
        try (CloseableIterator<Row> results =
                join(kind, left, leftChanges, right, rightChanges, hashed).executeAndCollect()) {
            actual = list(results);
        }
        try (CloseableIterator<Row> results =
                sql(kind, left, leftChanges, right, rightChanges, hashed).executeAndCollect()) {
            expected = list(results);
        }
        assertThat(materialized(actual)).as("seed=%d", seed).isEqualTo(materialized(expected));
        if (kind == BulkJoinKind.INNER && left == Input.APPENDED) {
            assertThat(actual).as("seed=%d", seed).hasSameSizeAs(expected);
        }
    }

    private static DataStream<Row> join(
            BulkJoinKind kind,
            Input left,
            List<Row> leftChanges,
            Input right,
            List<Row> rightChanges,
            boolean hashed) {
        StreamExecutionEnvironment env = environment();
        RegularJoin<Row> join =
                RegularJoin.of(env.fromData(leftChanges, LEFT), env.fromData(rightChanges, RIGHT))
                        .on("lk", "rk");
        if (hashed) {
            join.on("lnote", "rnote");
        }
        switch (left) {
            case APPENDED -> {}
            case UPDATED_BY_ID -> join.leftChangelog("lid");
            case REPEATED -> join.leftChangelog();
        }
        switch (right) {
            case APPENDED -> {}
            case UPDATED_BY_ID -> join.rightChangelog("rid");
            case REPEATED -> join.rightChangelog();
        }
        return of(join, kind).toStream();
    }

    private static RegularJoin<Row> of(RegularJoin<Row> join, BulkJoinKind kind) {
        return switch (kind) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    private static DataStream<Row> sql(
            BulkJoinKind kind,
            Input left,
            List<Row> leftChanges,
            Input right,
            List<Row> rightChanges,
            boolean hashed) {
        StreamExecutionEnvironment env = environment();
        StreamTableEnvironment tables = StreamTableEnvironment.create(env);
        view(tables, "l", left, env.fromData(leftChanges, LEFT), "lk", "lid", "lnote");
        view(tables, "r", right, env.fromData(rightChanges, RIGHT), "rk", "rid", "rnote");
        String on = hashed ? "lk = rk AND lnote = rnote" : "lk = rk";
        String query =
                switch (kind) {
                    case SEMI -> "SELECT * FROM l WHERE EXISTS (SELECT 1 FROM r WHERE %s)";
                    case ANTI -> "SELECT * FROM l WHERE NOT EXISTS (SELECT 1 FROM r WHERE %s)";
                    default -> "SELECT * FROM l " + kind + " JOIN r ON %s";
                };
        return tables.toChangelogStream(tables.sqlQuery(query.formatted(on)));
    }

    private static void view(
            StreamTableEnvironment tables,
            String name,
            Input input,
            DataStream<Row> changes,
            String key,
            String id,
            String note) {
        Schema.Builder schema =
                Schema.newBuilder()
                        .column(key, "INT")
                        .column(id, input == Input.UPDATED_BY_ID ? "INT NOT NULL" : "INT")
                        .column(note, "STRING");
        if (input == Input.UPDATED_BY_ID) {
            schema.primaryKey(id);
        }
        tables.createTemporaryView(
                name,
                input == Input.APPENDED
                        ? tables.fromDataStream(changes, schema.build())
                        : tables.fromChangelogStream(changes, schema.build()));
    }

    private static StreamExecutionEnvironment environment() {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        env.setParallelism(2);
        return env;
    }

    /** Returns changes, each of which refers to a row that is there. */
    private static List<Row> changes(Input input, Random random) {
        List<Row> changes = new ArrayList<>();
        List<Row> live = new ArrayList<>();
        for (int i = 0; i < CHANGES; i++) {
            boolean inserts = input == Input.APPENDED || live.isEmpty() || random.nextInt(5) < 3;
            Integer key = random.nextInt(10) == 0 ? null : (Integer) random.nextInt(KEYS);
            if (inserts) {
                int id = input == Input.UPDATED_BY_ID ? i : random.nextInt(4);
                live.add(Row.of(key, id, "note " + random.nextInt(3)));
                changes.add(copy(RowKind.INSERT, live.get(live.size() - 1)));
                continue;
            }
            Row old = live.remove(random.nextInt(live.size()));
            if (random.nextBoolean()) {
                changes.add(copy(RowKind.DELETE, old));
            } else {
                Row updated = Row.of(key, old.getField(1), "note " + random.nextInt(3));
                live.add(updated);
                changes.add(copy(RowKind.UPDATE_BEFORE, old));
                changes.add(copy(RowKind.UPDATE_AFTER, updated));
            }
        }
        return changes;
    }

    private static Row copy(RowKind kind, Row row) {
        Row copy = Row.copy(row);
        copy.setKind(kind);
        return copy;
    }

    private static List<Row> list(CloseableIterator<Row> results) {
        List<Row> rows = new ArrayList<>();
        results.forEachRemaining(rows::add);
        return rows;
    }

    /** Returns the rows that a changelog leaves, with their numbers. */
    private static Map<String, Integer> materialized(List<Row> changes) {
        Map<String, Integer> rows = new TreeMap<>();
        for (Row change : changes) {
            boolean isAddition =
                    change.getKind() == RowKind.INSERT || change.getKind() == RowKind.UPDATE_AFTER;
            StringBuilder text = new StringBuilder();
            for (int i = 0; i < change.getArity(); i++) {
                text.append(change.getField(i)).append(' ');
            }
            rows.merge(text.toString(), isAddition ? 1 : -1, Integer::sum);
        }
        rows.values().removeIf(count -> count == 0);
        return rows;
    }

    // ------------------------------------------------------------------ failures

    private static final int ROWS = 20_000;
    private static final int JOIN_KEYS = 5_000;
    private static final AtomicInteger CHECKPOINTS = new AtomicInteger();
    private static final AtomicBoolean FAILED = new AtomicBoolean();

    /** Waits for two checkpoints amid its numbers, and then fails once. */
    private static final class FailOnce extends RichMapFunction<Long, Long>
            implements CheckpointListener {

        private static final long serialVersionUID = 1L;

        private int numbers;

        @Override
        public Long map(Long number) throws Exception {
            if (!FAILED.get() && ++numbers > ROWS / 8) {
                if (CHECKPOINTS.get() > 1 && FAILED.compareAndSet(false, true)) {
                    throw new IllegalStateException("Injected failure.");
                }
                Thread.sleep(1);
            }
            return number;
        }

        @Override
        public void notifyCheckpointComplete(long checkpointId) {
            CHECKPOINTS.incrementAndGet();
        }
    }

    @ParameterizedTest(name = "state={0}, unaligned={1}")
    @CsvSource({"hashmap,false", "hashmap,true", "rocksdb,true"})
    void shouldReturnEachResultOnceAfterAFailure(String state, boolean unaligned) throws Exception {
        CHECKPOINTS.set(0);
        FAILED.set(false);
        Configuration config = new Configuration();
        config.set(StateBackendOptions.STATE_BACKEND, state);
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        config.setString("restart-strategy.fixed-delay.delay", "10 ms");
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "1kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        env.enableCheckpointing(50);
        env.getCheckpointConfig().enableUnalignedCheckpoints(unaligned);
        DataStream<Row> left =
                numbers(env, "left")
                        .map(n -> Row.of((int) (n % JOIN_KEYS), (int) (long) n, "left"))
                        .returns(LEFT);
        DataStream<Row> right =
                numbers(env, "right").flatMap(RegularJoinITCase::changesOf).returns(RIGHT);
        List<Row> results;
        try (CloseableIterator<Row> rows =
                RegularJoin.of(left, right)
                        .on("lk", "rk")
                        .rightChangelog("rid")
                        .full()
                        .uid("failing")
                        .toStream()
                        .executeAndCollect()) {
            results = list(rows);
        }
        assertThat(FAILED).isTrue();
        assertThat(materialized(results)).isEqualTo(expected());
    }

    private static DataStream<Long> numbers(StreamExecutionEnvironment env, String name) {
        return env.fromSource(
                        new NumberSequenceSource(0, ROWS - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(new FailOnce())
                .returns(Types.LONG);
    }

    /** Row n is updated, and then deleted if n is odd. A third of the keys have no left row. */
    private static void changesOf(long n, Collector<Row> out) {
        int key = rightKey(n);
        Row first = Row.of(key, (int) n, "first");
        Row second = Row.of(key, (int) n, "second");
        out.collect(first);
        out.collect(copy(RowKind.UPDATE_BEFORE, first));
        out.collect(copy(RowKind.UPDATE_AFTER, second));
        if (n % 2 == 1) {
            out.collect(copy(RowKind.DELETE, second));
        }
    }

    private static int rightKey(long n) {
        return (int) (n % JOIN_KEYS * 3 / 2);
    }

    private static Map<String, Integer> expected() {
        Map<Integer, List<Integer>> rightIds = new TreeMap<>();
        for (int n = 0; n < ROWS; n += 2) {
            rightIds.computeIfAbsent(rightKey(n), key -> new ArrayList<>()).add(n);
        }
        Map<String, Integer> rows = new TreeMap<>();
        for (int n = 0; n < ROWS; n++) {
            int key = n % JOIN_KEYS;
            String left = "%d %d left ".formatted(key, n);
            List<Integer> matches = rightIds.getOrDefault(key, List.of());
            matches.forEach(id -> rows.put(left + "%d %d second ".formatted(key, id), 1));
            if (matches.isEmpty()) {
                rows.put(left + "null null null ", 1);
            }
        }
        rightIds.forEach(
                (key, ids) -> {
                    if (key >= JOIN_KEYS) {
                        ids.forEach(
                                id ->
                                        rows.put(
                                                "null null null %d %d second ".formatted(key, id),
                                                1));
                    }
                });
        return rows;
    }
}
