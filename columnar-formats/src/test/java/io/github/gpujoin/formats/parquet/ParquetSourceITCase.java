// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.formats.testing.RestartingJob;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.CloseableIterator;
import org.apache.flink.util.CollectionUtil;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

@Timeout(120)
class ParquetSourceITCase {

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(2)
                            .build());

    private static final int FILES = 3;
    private static final int ROWS = 200_000;

    private static final ChunkSchema ROW =
            ChunkSchema.of(Column.of("id", ColumnType.INT64), Column.of("name", ColumnType.STRING));

    @TempDir Path folder;

    @BeforeEach
    void writeFiles() throws Exception {
        for (int i = 0; i < FILES; i++) {
            write(folder, i);
        }
        RestartingJob.failAt(Integer.MAX_VALUE);
    }

    private static void write(Path to, int number) throws Exception {
        Path draft = to.resolveSibling(to.getFileName() + "-draft-" + number);
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(
                    "COPY (SELECT i AS id, 'row ' || i AS name FROM range(%d, %d) r(i)) TO '%s' (FORMAT PARQUET, ROW_GROUP_SIZE 20480)"
                            .formatted(number * ROWS, (number + 1) * ROWS, draft));
        }
        Files.move(draft, to.resolve("part-" + number + ".parquet"));
    }

    private ColumnarSource source() {
        return ColumnarSource.of(
                ParquetFormat.of(ROW), new org.apache.flink.core.fs.Path(folder.toUri()));
    }

    @Test
    void shouldReadAllFilesOfADirectory() throws Exception {
        StreamExecutionEnvironment env = RestartingJob.environment();
        List<Long> ids = CollectionUtil.iteratorToList(RestartingJob.ids(env, source()));
        assertThat(ids).hasSize(FILES * ROWS).doesNotHaveDuplicates();
    }

    /** Results are collected exactly once, so rows that were read twice would be there twice. */
    @Test
    void shouldReadEachRowOnceAcrossARestart() throws Exception {
        RestartingJob.failAt(40);
        StreamExecutionEnvironment env = RestartingJob.environment();
        env.enableCheckpointing(10);
        List<Long> ids = CollectionUtil.iteratorToList(RestartingJob.ids(env, source()));
        assertThat(RestartingJob.hasFailed()).isTrue();
        assertThat(ids).hasSize(FILES * ROWS).doesNotHaveDuplicates();
    }

    @ParameterizedTest
    @CsvSource({
        "absent, Column is not in the Parquet file",
        "name, Column has another type in the"
    })
    void shouldNotRestartIfAFileHasAnotherSchema(String column, String message) {
        ParquetFormat format =
                ParquetFormat.of(ChunkSchema.of(Column.of(column, ColumnType.INT64)));
        ColumnarSource source =
                ColumnarSource.of(format, new org.apache.flink.core.fs.Path(folder.toUri()));
        assertThatThrownBy(
                        () ->
                                CollectionUtil.iteratorToList(
                                        RestartingJob.ids(RestartingJob.environment(), source)))
                .hasStackTraceContaining(message)
                .hasStackTraceContaining(RestartingJob.NOT_RECOVERABLE);
    }

    /** A read may have failed. */
    @Test
    void shouldRestartIfAFileIsTruncated() throws Exception {
        Path file = folder.resolve("part-0.parquet");
        Files.write(file, Arrays.copyOf(Files.readAllBytes(file), 1_000));
        assertThatThrownBy(
                        () ->
                                CollectionUtil.iteratorToList(
                                        RestartingJob.ids(RestartingJob.environment(), source())))
                .hasStackTraceContaining("Parquet file is truncated")
                .hasStackTraceContaining("maxNumberRestartAttempts=1");
    }

    @Test
    void shouldReadFilesThatAppearWhileItWatches() throws Exception {
        StreamExecutionEnvironment env = RestartingJob.environment();
        env.enableCheckpointing(50);
        try (CloseableIterator<Long> ids =
                RestartingJob.ids(env, source().watch(Duration.ofMillis(50)))) {
            boolean[] seen = new boolean[(FILES + 1) * ROWS];
            for (int i = 0; i < FILES * ROWS; i++) {
                mark(seen, ids.next());
            }
            write(folder, FILES);
            for (int i = 0; i < ROWS; i++) {
                mark(seen, ids.next());
            }
        }
    }

    private static void mark(boolean[] seen, long id) {
        assertThat(seen[(int) id]).as("row %s read before", id).isFalse();
        seen[(int) id] = true;
    }
}
