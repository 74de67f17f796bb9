// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static io.github.gpujoin.flink.api.ColumnPredicate.column;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.function.Consumer;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.Collector;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Star joins of bounded inputs in batch mode, as nested loops join them. */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class BatchStarJoinITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(2)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(
                                    new Configuration()
                                            .set(
                                                    BatchExecutionOptions
                                                            .ADAPTIVE_AUTO_PARALLELISM_AVG_DATA_VOLUME_PER_TASK,
                                                    MemorySize.parse("1kb")))
                            .build());

    private static final TypeInformation<Row> FACTS =
            Types.ROW_NAMED(
                    new String[] {"store", "item", "day", "amount"},
                    Types.INT,
                    Types.STRING,
                    Types.LONG,
                    Types.INT);

    private static final TypeInformation<Row> STORES =
            Types.ROW_NAMED(new String[] {"id", "city"}, Types.INT, Types.STRING);

    private static final TypeInformation<Row> ITEMS =
            Types.ROW_NAMED(new String[] {"name", "weight"}, Types.STRING, Types.INT);

    private static final TypeInformation<Row> DAYS =
            Types.ROW_NAMED(new String[] {"date", "week"}, Types.INT, Types.INT);

    /** A fact with columns that are never null, for filters and groups. */
    public static class Sale {
        public int store;
        public long day;
        public short amount;

        public Sale() {}
    }

    /** A dimension with a column that is never null. */
    public static class Day {
        public int date;
        public int week;
        public String season;

        public Day() {}
    }

    private enum Kind {
        INNER,
        LEFT,
        SEMI,
        ANTI;

        boolean selects() {
            return this == INNER || this == LEFT;
        }

        void set(Dimension<?> dimension) {
            switch (this) {
                case INNER -> {}
                case LEFT -> dimension.left();
                case SEMI -> dimension.semi();
                case ANTI -> dimension.anti();
            }
        }
    }

    private record Data(List<Row> facts, List<Row> stores, List<Row> items, List<Row> days) {

        static Data of(long seed) {
            Random random = new Random(seed);
            List<Row> facts = new ArrayList<>();
            for (int i = 0; i < 600; i++) {
                facts.add(
                        Row.of(
                                random.nextInt(9) == 0 ? null : (Integer) random.nextInt(40),
                                random.nextInt(9) == 0 ? null : text(random, 40),
                                random.nextInt(9) == 0 ? null : (Long) (long) random.nextInt(40),
                                i));
            }
            List<Row> stores = new ArrayList<>();
            List<Row> items = new ArrayList<>();
            List<Row> days = new ArrayList<>();
            for (int i = 0; i < 40; i++) {
                stores.add(Row.of(random.nextInt(50), i % 5 == 0 ? null : "city " + i));
                items.add(Row.of(random.nextInt(9) == 0 ? null : text(random, 50), i));
                days.add(Row.of(random.nextInt(50), i % 6 == 0 ? null : (Integer) i));
            }
            return new Data(facts, stores, items, days);
        }

        private static String text(Random random, int count) {
            return "item of the catalogue " + random.nextInt(count);
        }

        /** Results of nested loops. */
        List<Row> joined(Kind store, Kind item, Kind day) {
            List<Row> results = new ArrayList<>();
            for (Row fact : facts) {
                List<Row> rows = List.of(Row.project(fact, new int[] {3, 0, 1, 2}));
                rows = with(rows, store, fact.getField(0), stores);
                rows = with(rows, item, fact.getField(1), items);
                Long date = fact.getFieldAs(2);
                rows = with(rows, day, date == null ? null : (Object) date.intValue(), days);
                results.addAll(rows);
            }
            return results;
        }

        private static List<Row> with(List<Row> rows, Kind kind, Object key, List<Row> dimension) {
            List<Row> matches =
                    dimension.stream()
                            .filter(row -> key != null && key.equals(row.getField(0)))
                            .toList();
            if (kind == Kind.SEMI || kind == Kind.ANTI) {
                return matches.isEmpty() == (kind == Kind.ANTI) ? rows : List.of();
            }
            List<Row> joined = new ArrayList<>();
            for (Row row : rows) {
                matches.forEach(match -> joined.add(Row.join(row, match)));
                if (matches.isEmpty() && kind == Kind.LEFT) {
                    joined.add(Row.join(row, new Row(2)));
                }
            }
            return joined;
        }
    }

    private static StreamExecutionEnvironment environment(String engine) {
        Configuration config = new Configuration();
        config.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        config.set(PipelineOptions.GENERIC_TYPES, false);
        config.setString(GpuJoinOptions.ENGINE.key(), engine);
        config.setString(GpuJoinOptions.CHUNK_BYTES.key(), "2kb");
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment(config);
        env.setParallelism(3);
        return env;
    }

    private static StarJoin<Row> join(
            StreamExecutionEnvironment env,
            Data data,
            Kind store,
            Kind item,
            Kind day,
            String replicated) {
        return StarJoin.of(env.fromData(data.facts, FACTS))
                .select("amount", "store", "item", "day")
                .dimension(
                        env.fromData(data.stores, STORES),
                        d ->
                                describe(
                                        d.named("store").on("store", "id"),
                                        store,
                                        replicated,
                                        "id",
                                        "city"))
                .dimension(
                        env.fromData(data.items, ITEMS),
                        d ->
                                describe(
                                        d.named("item").on("item", "name"),
                                        item,
                                        replicated,
                                        "name",
                                        "weight"))
                .dimension(
                        env.fromData(data.days, DAYS),
                        d ->
                                describe(
                                        d.named("day").on("day", "date"),
                                        day,
                                        replicated,
                                        "date",
                                        "week"));
    }

    private static void describe(
            Dimension<Row> dimension, Kind kind, String replicated, String key, String column) {
        kind.set(dimension);
        if (kind.selects()) {
            dimension.select(key + " AS d_" + key, column);
        }
        if (replicated.contains(key)) {
            dimension.replicated();
        }
    }

    @ParameterizedTest(name = "store {0} item {1} day {2}, replicated {3}, {4}")
    @CsvSource({
        "INNER, INNER, INNER, none, cpu",
        "LEFT, LEFT, LEFT, none, cpu",
        "LEFT, INNER, SEMI, id, cpu",
        "INNER, LEFT, LEFT, name, cpu",
        "LEFT, ANTI, INNER, id name date, cpu",
        "SEMI, LEFT, INNER, date, reference",
        "ANTI, SEMI, LEFT, none, cpu"
    })
    void shouldJoinAsNestedLoopsDo(
            Kind store, Kind item, Kind day, String replicated, String engine) throws Exception {
        Data data = Data.of(store.ordinal() * 16L + item.ordinal() * 4L + day.ordinal());
        StarJoin<Row> join = join(environment(engine), data, store, item, day, replicated);
        assertThat(texts(join.toRows()))
                .containsExactlyInAnyOrderElementsOf(
                        data.joined(store, item, day).stream().map(Row::toString).toList());
    }

    @Test
    void shouldReturnChunks() throws Exception {
        Data data = Data.of(99);
        DataStream<Chunk> chunks =
                join(environment("cpu"), data, Kind.LEFT, Kind.INNER, Kind.SEMI, "date").toChunks();
        DataStream<String> texts =
                chunks.flatMap(
                                (Chunk chunk, Collector<String> out) -> {
                                    ChunkCursor row = new ChunkCursor(chunk.schema());
                                    for (int i = 0; i < chunk.rowCount(); i++) {
                                        row.at(chunk, i);
                                        out.collect(
                                                row.getInt(0)
                                                        + " "
                                                        + row.getString(2)
                                                        + " "
                                                        + (row.isNull(5) ? null : row.getString(5))
                                                        + " "
                                                        + row.getInt(7));
                                    }
                                })
                        .returns(Types.STRING);
        assertThat(texts(texts))
                .containsExactlyInAnyOrderElementsOf(
                        data.joined(Kind.LEFT, Kind.INNER, Kind.SEMI).stream()
                                .map(
                                        row ->
                                                "%s %s %s %s"
                                                        .formatted(
                                                                row.getField(0),
                                                                row.getField(2),
                                                                row.getField(5),
                                                                row.getField(7)))
                                .toList());
    }

    @ParameterizedTest
    @CsvSource({"season, false", "season, true", "week, false", "week, true"})
    void shouldAddUpGroups(String column, boolean replicated) throws Exception {
        Random random = new Random(5);
        Sale[] sales = new Sale[3_000];
        for (int i = 0; i < sales.length; i++) {
            sales[i] = new Sale();
            sales[i].store = random.nextInt(50);
            sales[i].day = random.nextInt(90);
            sales[i].amount = (short) (random.nextInt(100) - 20);
        }
        Day[] days = new Day[70];
        for (int i = 0; i < days.length; i++) {
            days[i] = new Day();
            days[i].date = random.nextInt(90);
            days[i].week = random.nextInt(10) - 5;
            days[i].season = i % 5 == 0 ? null : "season " + i % 4;
        }
        List<Row> stores = new ArrayList<>();
        for (int i = 0; i < 40; i++) {
            stores.add(Row.of(random.nextInt(45), "city " + i));
        }
        StreamExecutionEnvironment env = environment("cpu");
        DataStream<Row> groups =
                StarJoin.of(env.fromData(Sale.class, sales))
                        .where(column("amount").lessThan(60))
                        .where(sale -> sale.store != 7)
                        .dimension(
                                env.fromData(Day.class, days),
                                d -> replicate(d.named("day").on("day", "date"), replicated))
                        .dimension(
                                env.fromData(stores, STORES),
                                d -> replicate(d.named("store").on("store", "id"), replicated))
                        .groupBy(column + " AS of", "store AS shop")
                        .count("sales")
                        .sum("amount", "total")
                        .sumOfProduct("amount", "week", "weighted")
                        .toRows();
        Map<String, long[]> expected = new TreeMap<>();
        for (Sale sale : sales) {
            for (Day day : days) {
                for (Row store : stores) {
                    boolean isJoined =
                            sale.amount < 60
                                    && sale.store != 7
                                    && sale.day == day.date
                                    && store.getField(0).equals(sale.store);
                    if (isJoined) {
                        Object of = column.equals("week") ? day.week : day.season;
                        long[] sums =
                                expected.computeIfAbsent(
                                        of + " " + sale.store, group -> new long[3]);
                        sums[0]++;
                        sums[1] += sale.amount;
                        sums[2] += (long) sale.amount * day.week;
                    }
                }
            }
        }
        assertThat(
                        texts(
                                groups.map(
                                        row ->
                                                "%s %s %s %s %s"
                                                        .formatted(
                                                                row.getField("of"),
                                                                row.getField("shop"),
                                                                row.getField("sales"),
                                                                row.getField("total"),
                                                                row.getField("weighted")))))
                .containsExactlyInAnyOrderElementsOf(
                        expected.entrySet().stream()
                                .map(
                                        group ->
                                                "%s %d %d %d"
                                                        .formatted(
                                                                group.getKey(),
                                                                group.getValue()[0],
                                                                group.getValue()[1],
                                                                group.getValue()[2]))
                                .toList());
    }

    /** Of a stage before the last if the semi-joined dimension is replicated, else of the last. */
    @ParameterizedTest
    @CsvSource({"day, true", "day, false", "store, true", "store, false"})
    void shouldGroupByKeyOfSemiJoin(String replicated, boolean hasText) throws Exception {
        Sale[] sales = new Sale[500];
        for (int i = 0; i < sales.length; i++) {
            sales[i] = new Sale();
            sales[i].store = i % 20;
            sales[i].day = i % 30;
            sales[i].amount = (short) i;
        }
        Day[] days = new Day[40]; // 20 dates, each twice
        for (int i = 0; i < days.length; i++) {
            days[i] = new Day();
            days[i].date = i % 20;
        }
        List<Row> stores = new ArrayList<>();
        for (int i = 0; i < 15; i++) {
            stores.add(Row.of(i, "city " + i % 2));
        }
        StreamExecutionEnvironment env = environment("cpu");
        DataStream<Row> groups =
                StarJoin.of(env.fromData(Sale.class, sales))
                        .dimension(
                                env.fromData(Day.class, days),
                                d ->
                                        replicate(
                                                d.named("day").on("day", "date").semi(),
                                                replicated.equals("day")))
                        .dimension(
                                env.fromData(stores, STORES),
                                d ->
                                        replicate(
                                                d.named("store").on("store", "id"),
                                                replicated.equals("store")))
                        .groupBy(
                                hasText
                                        ? new String[] {"date", "city"}
                                        : new String[] {"date", "store"})
                        .count("sales")
                        .sumOfProduct("amount", "date", "weighted")
                        .toRows();
        Map<String, long[]> expected = new TreeMap<>();
        for (Sale sale : sales) {
            if (sale.day < 20 && sale.store < 15) {
                String of = hasText ? "city " + sale.store % 2 : "" + sale.store;
                long[] sums = expected.computeIfAbsent(sale.day + ", " + of, group -> new long[2]);
                sums[0]++;
                sums[1] += sale.amount * sale.day;
            }
        }
        assertThat(texts(groups.map(row -> row.toString())))
                .containsExactlyInAnyOrderElementsOf(
                        expected.entrySet().stream()
                                .map(
                                        group ->
                                                "+I[%s, %d, %d]"
                                                        .formatted(
                                                                group.getKey(),
                                                                group.getValue()[0],
                                                                group.getValue()[1]))
                                .toList());
    }

    private static void replicate(Dimension<?> dimension, boolean replicated) {
        if (replicated) {
            dimension.replicated();
        }
    }

    @Test
    void shouldExplainStages() {
        StreamExecutionEnvironment env = environment("cpu");
        StarJoin<Row> join = join(env, Data.of(1), Kind.LEFT, Kind.INNER, Kind.SEMI, "name");
        assertThat(join.explain().toString().lines().map(line -> line.strip().split(" +")))
                .contains(
                        "item INNER REPLICATED ASKED all cpu ASKED - -".split(" "),
                        "store LEFT PARTITIONED SIZE_UNKNOWN all cpu ASKED - -".split(" "),
                        "day SEMI PARTITIONED SIZE_UNKNOWN all cpu ASKED - -".split(" "));
        assertThat(join.explain().toString()).contains("\n  filters of facts: none (BATCH_MODE)\n");

        JoinExplanation planned = join.explain();
        join.toRows();
        assertThat(StarJoin.explain(env)).containsExactly(planned);
    }

    @Test
    void shouldPlanGpuOnlyIfFailedTasksAreRestarted() {
        assertThat(explanation("none")).contains("all cpu FEW_RESTARTS");
        assertThat(explanation("exponential-delay")).contains("all gpu or cpu AT_RUN_TIME");
    }

    private static String explanation(String restartStrategy) {
        StreamExecutionEnvironment env = environment("auto");
        env.configure(
                new Configuration().set(RestartStrategyOptions.RESTART_STRATEGY, restartStrategy));
        return join(env, Data.of(1), Kind.LEFT, Kind.INNER, Kind.SEMI, "name")
                .explain()
                .toString()
                .replaceAll(" +", " ");
    }

    @Test
    void shouldRefuseWhatNeedsTime() {
        assertRefused(Dimension::changelog, "changelog");
        assertRefused(Dimension::versioned, "versioned dimension");
        assertRefused(d -> d.completeAtWatermark(5), "dimension that is complete at a watermark");
        assertRefused(d -> d.lateRows(rows -> {}), "late rows");
    }

    private static void assertRefused(Consumer<Dimension<Row>> description, String feature) {
        StreamExecutionEnvironment env = environment("cpu");
        Data data = Data.of(1);
        StarJoin<Row> join =
                StarJoin.of(env.fromData(data.facts, FACTS))
                        .select("amount")
                        .dimension(
                                env.fromData(data.stores, STORES),
                                d -> description.accept(d.named("store").on("store", "id")));
        assertThatThrownBy(join::toRows)
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "Batch mode has no %s: dimension=store. Remove it, or set execution.runtime-mode to STREAMING.",
                        feature);
    }

    private static List<String> texts(DataStream<?> results) throws Exception {
        List<String> texts = new ArrayList<>();
        try (CloseableIterator<?> rows = results.executeAndCollect()) {
            rows.forEachRemaining(row -> texts.add(row.toString()));
        }
        return texts;
    }
}
