// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatNullPointerException;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import java.time.Duration;
import org.apache.flink.core.fs.Path;
import org.junit.jupiter.api.Test;

class ColumnarSourceTest {

    private static final ParquetFormat FORMAT =
            ParquetFormat.of(ChunkSchema.of(Column.of("id", ColumnType.INT64)));

    @Test
    void shouldRefuseASourceWithoutPaths() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> ColumnarSource.of(FORMAT))
                .withMessageContaining("No paths to read");
        assertThatNullPointerException()
                .isThrownBy(() -> ColumnarSource.of(FORMAT, (Path) null))
                .withMessage("path");
    }

    @Test
    void shouldRefuseToWatchWithoutAnInterval() {
        ColumnarSource source = ColumnarSource.of(FORMAT, new Path("/data"));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> source.watch(Duration.ZERO))
                .withMessageContaining("Interval is not positive");
        assertThatNullPointerException()
                .isThrownBy(() -> source.watch(null))
                .withMessage("interval");
    }
}
