// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import static io.github.gpujoin.flink.api.ColumnPredicate.column;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.RowView;
import io.github.gpujoin.examples.run.JobCluster;
import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.GroupedJoin;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.BatchExecutionOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Star joins, grouped or not, of random schemas, data and settings answer as DuckDB does. Another
 * range of seeds: {@code -Dgpujoin.first-seed=1000}.
 */
class RandomStarITCase {

    private static final int SEEDS = 40;

    @TempDir private Path directory;

    private static JobCluster cluster;

    @BeforeAll
    static void openCluster() throws Exception {
        cluster = JobCluster.open(4, new Configuration());
    }

    @AfterAll
    static void closeCluster() throws Exception {
        cluster.close();
    }

    static LongStream seeds() {
        long first = Long.getLong("gpujoin.first-seed", 0);
        return LongStream.range(first, first + SEEDS);
    }

    @Test
    void shouldDrawStarsWhoseAnswersHoldRows() throws Exception {
        int answersWithRows = 0;
        for (long seed : seeds().toArray()) {
            RandomStar star = new RandomStar(seed, directory);
            answersWithRows += answer(star, star.sql()).isEmpty() ? 0 : 1;
        }
        assertThat(answersWithRows).isGreaterThan(SEEDS / 2);
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldJoinAsDuckDbDoes(long seed) throws Exception {
        RandomStar star = new RandomStar(seed, directory);
        List<List<String>> expected = answer(star, star.sql());
        Random random = new Random(~seed);
        Configuration settings = settings(seed, random);
        List<List<String>> actual = join(star, random, cluster.env(settings));
        assertThat(sorted(actual)).as("%s %s", star.sql(), settings).isEqualTo(sorted(expected));
    }

    @ParameterizedTest(name = "seed {0}")
    @MethodSource("seeds")
    void shouldGroupAsDuckDbDoes(long seed) throws Exception {
        RandomStar star = new RandomStar(seed, directory);
        Random random = new Random(seed * 31);
        List<String> columns = star.groupable();
        List<String> groups = new ArrayList<>(columns);
        groups.addAll(star.groupableTexts());
        List<String> groupBy = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            groupBy.add(groups.get(random.nextInt(groups.size())));
        }
        groupBy = groupBy.stream().distinct().toList();
        String factor = columns.get(random.nextInt(columns.size()));
        List<List<String>> expected = answer(star, star.groupSql(groupBy, factor));
        Configuration settings = settings(seed, random);
        GroupedJoin grouped =
                star(star, random, cluster.env(settings), false)
                        .groupBy(groupBy.toArray(String[]::new))
                        .count("n")
                        .sum("f_f", "sum")
                        .sumOfProduct("f_f", factor, "product");
        List<List<String>> actual = new ArrayList<>();
        try (CloseableIterator<Row> rows = grouped.toRows().executeAndCollect()) {
            rows.forEachRemaining(row -> actual.add(text(row)));
        }
        assertThat(sorted(actual))
                .as("%s %s", star.groupSql(groupBy, factor), settings)
                .isEqualTo(sorted(expected));
    }

    private static List<String> text(Row row) {
        return IntStream.range(0, row.getArity()).mapToObj(i -> "" + row.getField(i)).toList();
    }

    private List<List<String>> answer(RandomStar star, String sql) throws Exception {
        try (DuckDb duckDb = new DuckDb()) {
            for (TblTable table : star.tables()) {
                duckDb.load(table, directory, star.trailingBar());
            }
            return duckDb.query(sql);
        }
    }

    /** One job of four runs in batch mode. */
    private static Configuration settings(long seed, Random random) {
        Configuration settings = new Configuration();
        if (seed % 4 == 3) {
            settings.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
            settings.set(BatchExecutionOptions.ADAPTIVE_AUTO_PARALLELISM_ENABLED, false);
        }
        settings.set(CoreOptions.DEFAULT_PARALLELISM, 1 << random.nextInt(3));
        settings.set(PipelineOptions.MAX_PARALLELISM, random.nextBoolean() ? 128 : 5);
        settings.set(
                StateBackendOptions.STATE_BACKEND, random.nextBoolean() ? "hashmap" : "rocksdb");
        settings.set(
                GpuJoinOptions.ENGINE,
                random.nextInt(4) == 0
                        ? GpuJoinOptions.Engine.REFERENCE
                        : GpuJoinOptions.Engine.CPU);
        // One byte makes chunks of one row.
        settings.set(GpuJoinOptions.CHUNK_BYTES, new MemorySize(chunkBytes(random)));
        return settings;
    }

    private static int chunkBytes(Random random) {
        return new int[] {1, 500, 1 << 17}[random.nextInt(3)];
    }

    private List<List<String>> join(RandomStar star, Random random, StreamExecutionEnvironment env)
            throws Exception {
        StarJoin<RowView> join = star(star, random, env, true);
        List<List<String>> rows = new ArrayList<>();
        try (CloseableIterator<Row> result = join.toRows().executeAndCollect()) {
            result.forEachRemaining(row -> rows.add(text(row, star.resultColumns())));
        }
        return rows;
    }

    /** The join, filtered by a function or, for the same rows, by columns. */
    private StarJoin<RowView> star(
            RandomStar star, Random random, StreamExecutionEnvironment env, boolean selects) {
        DataStream<Chunk> facts = read(env, star.facts(), chunkBytes(random));
        StarJoin<RowView> join = StarJoin.ofChunks(facts).uid("random");
        if (random.nextBoolean()) {
            join.where(filter("f_f").on(facts));
        } else {
            join.where(column("f_f").lessOrEqual(RandomStar.FILTER_TO))
                    .where(column("f_f").greaterOrEqual(RandomStar.FILTER_FROM));
        }
        if (selects) {
            join.select(star.factSelected().toArray(String[]::new));
        }
        int partitioned = random.nextInt(star.dimensions().size() + 1);
        for (int d = 0; d < star.dimensions().size(); d++) {
            RandomStar.Dimension dimension = star.dimensions().get(d);
            DataStream<Chunk> chunks = read(env, dimension.table(), chunkBytes(random));
            int number = d;
            join.dimensionChunks(
                    chunks,
                    side -> {
                        side.named("d" + number)
                                .on("f_k" + number, "d" + number + "_key")
                                .where(filter("d" + number + "_f").on(chunks));
                        switch (dimension.kind()) {
                            case INNER -> {}
                            case LEFT -> side.left();
                            case SEMI -> side.semi();
                            case ANTI -> side.anti();
                        }
                        if (selects && dimension.kind().keepsPayload()) {
                            side.select(dimension.selected().toArray(String[]::new));
                        }
                        if (number == partitioned) {
                            side.partitioned();
                        }
                    });
        }
        return join;
    }

    private static ColumnFilter filter(String column) {
        return ColumnFilter.between(column, RandomStar.FILTER_FROM, RandomStar.FILTER_TO);
    }

    private DataStream<Chunk> read(StreamExecutionEnvironment env, TblTable table, int chunkBytes) {
        ChunkSchema schema = table.projectAll();
        return ColumnarSource.of(
                        table.format(schema).chunkBytes(chunkBytes),
                        new org.apache.flink.core.fs.Path(
                                directory.resolve(table.fileName()).toUri()))
                .toStream(env, table.name());
    }

    private static List<String> text(Row row, List<TblColumn> columns) {
        List<String> values = new ArrayList<>();
        for (TblColumn column : columns) {
            ResultColumn shown =
                    switch (column.type()) {
                        case HUNDREDTHS -> ResultColumn.decimal(column.name(), 2);
                        case DATE -> ResultColumn.date(column.name());
                        default -> ResultColumn.plain(column.name());
                    };
            values.add(shown.format(row.getField(column.name())));
        }
        return values;
    }

    private static List<String> sorted(List<List<String>> rows) {
        return rows.stream().map(List::toString).sorted().toList();
    }
}
