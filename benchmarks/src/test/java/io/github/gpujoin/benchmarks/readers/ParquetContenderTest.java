// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.readers;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class ParquetContenderTest {

    private static final long ROWS = 10_000;

    @TempDir private static Path folder;
    private static Path file;

    @BeforeAll
    static void write() throws SQLException {
        file = folder.resolve("t.parquet");
        try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                Statement sql = db.createStatement()) {
            sql.execute(
                    "COPY (SELECT i::INTEGER AS a, 'x' AS text, (-3 * i)::INTEGER AS b FROM range(%d) r(i)) TO '%s' (FORMAT PARQUET, ROW_GROUP_SIZE 4096)"
                            .formatted(ROWS, file));
        }
    }

    @ParameterizedTest
    @EnumSource
    void shouldAddUpAllValuesOfTheColumns(ParquetContender contender) throws Exception {
        assertThat(contender.sum(file, List.of("b", "a"))).isEqualTo(-2 * ROWS * (ROWS - 1) / 2);
        assertThat(contender.sum(file, List.of("a"))).isEqualTo(ROWS * (ROWS - 1) / 2);
    }
}
