// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static io.github.gpujoin.flink.api.ColumnPredicate.column;
import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.StarJoin;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.testutils.InMemoryReporter;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.types.Row;
import org.apache.flink.util.CloseableIterator;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A source of Parquet that skips what the join does not need; DuckDB answers the same query. */
@Timeout(180)
class JoinedSourceITCase {

    private static final InMemoryReporter METRICS = InMemoryReporter.createWithRetainedMetrics();

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .setConfiguration(METRICS.addToConfiguration(new Configuration()))
                            .build());

    private static final int ROWS = 2_000_000;
    private static final int KEYS = 1_000;

    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("id", ColumnType.INT64),
                    Column.of("key", ColumnType.INT32),
                    Column.of("amount", ColumnType.INT32));

    /** Results until a failure, which happens once. */
    private static final AtomicInteger RESULTS_LEFT = new AtomicInteger();

    @TempDir Path folder;
    private Path file;

    @BeforeEach
    void write() throws SQLException {
        file = folder.resolve("facts.parquet");
        query(
                "COPY (SELECT i AS id, (i * 7919 %% %d)::INTEGER AS key, (i / 1000)::INTEGER AS amount FROM range(%d) r(i)) TO '%s' (FORMAT PARQUET, ROW_GROUP_SIZE 100000)"
                        .formatted(KEYS, ROWS, file));
    }

    private static List<Long> query(String text) throws SQLException {
        List<Long> values = new ArrayList<>();
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            if (sql.execute(text)) {
                try (var rows = sql.getResultSet()) {
                    while (rows.next()) {
                        values.add(rows.getLong(1));
                    }
                }
            }
        }
        return values;
    }

    @ParameterizedTest(name = "filters={0} fails={1}")
    @CsvSource({"true, false", "true, true", "false, false"})
    void shouldEmitWhatDuckDbFinds(boolean filters, boolean fails) throws Exception {
        RESULTS_LEFT.set(fails ? 2_000 : Integer.MAX_VALUE);
        long skippedBefore = rowsSkipped();
        List<Long> found = join(environment(filters), Duration.ZERO);
        assertThat(found).isEqualTo(expected());
        assertThat(RESULTS_LEFT.get() < 0).isEqualTo(fails);
        assertThat(rowsSkipped() > skippedBefore).isEqualTo(filters);
    }

    @ParameterizedTest(name = "filters={0}")
    @ValueSource(booleans = {false, true})
    void shouldSkipRowsByPredicateInBatchMode(boolean filters) throws Exception {
        RESULTS_LEFT.set(Integer.MAX_VALUE);
        StreamExecutionEnvironment env = environment(filters);
        env.setRuntimeMode(RuntimeExecutionMode.BATCH);
        long skippedBefore = rowsSkipped();
        assertThat(join(env, Duration.ZERO)).isEqualTo(expected());
        assertThat(rowsSkipped() > skippedBefore).isEqualTo(filters);
    }

    /** The join keeps facts that arrive early, far fewer than the file has. */
    @Test
    void shouldNotReadFactsBeforeItKnowsWhichOnesMatch() throws Exception {
        RESULTS_LEFT.set(Integer.MAX_VALUE);
        long skippedBefore = rowsSkipped();
        assertThat(join(environment(true), Duration.ofMillis(1))).isEqualTo(expected());
        assertThat(rowsSkipped() - skippedBefore).isGreaterThan(ROWS / 10 * 9);
    }

    /**
     * @param delay of each row of the dimension
     */
    private List<Long> join(StreamExecutionEnvironment env, Duration delay) throws Exception {
        DataStream<Row> dimension =
                env.fromSource(
                                new NumberSequenceSource(0, KEYS - 1),
                                WatermarkStrategy.noWatermarks(),
                                "keys")
                        .filter(
                                key -> {
                                    Thread.sleep(delay.toMillis());
                                    return key % 50 == 3;
                                })
                        .map(key -> Row.of(key, key * 2))
                        .returns(
                                Types.ROW_NAMED(
                                        new String[] {"key", "twice"}, Types.LONG, Types.LONG));
        DataStream<Row> results =
                StarJoin.ofSource(
                                env,
                                ColumnarSource.of(
                                        ParquetFormat.of(FACTS),
                                        new org.apache.flink.core.fs.Path(file.toUri())),
                                "facts")
                        .where(column("amount").between(0, 1_500))
                        .select("id")
                        .dimension(dimension, d -> d.named("keys").on("key", "key").select("twice"))
                        .toRows()
                        .filter(JoinedSourceITCase::failsOnce);
        List<Long> found = new ArrayList<>();
        try (CloseableIterator<Row> rows = results.executeAndCollect()) {
            rows.forEachRemaining(row -> found.add(row.getFieldAs("id")));
        }
        found.sort(null);
        return found;
    }

    private List<Long> expected() throws SQLException {
        return query(
                "SELECT id FROM '%s' WHERE key %% 50 = 3 AND amount BETWEEN 0 AND 1500 ORDER BY id"
                        .formatted(file));
    }

    private static StreamExecutionEnvironment environment(boolean filters) {
        Configuration options = new Configuration();
        options.set(GpuJoinOptions.FACT_FILTERS, filters);
        options.set(GpuJoinOptions.ENGINE, GpuJoinOptions.Engine.CPU);
        options.set(RestartStrategyOptions.RESTART_STRATEGY, "fixed-delay");
        options.setString("restart-strategy.fixed-delay.delay", "10 ms");
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(options);
        env.setParallelism(2);
        env.enableCheckpointing(20);
        return env;
    }

    private static boolean failsOnce(Row row) {
        if (RESULTS_LEFT.decrementAndGet() == 0) {
            throw new IllegalStateException("Failed on purpose.");
        }
        return true;
    }

    private static long rowsSkipped() {
        return METRICS.getMetricsByGroup().values().stream()
                .map(metrics -> metrics.get("rowsSkipped"))
                .filter(Objects::nonNull)
                .mapToLong(metric -> ((Counter) metric).getCount())
                .sum();
    }
}
