// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;

@ExtendWith(RegionLeakExtension.class)
class ChunkFilesTest {

    private static final ChunkSchema SCHEMA =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("text", ColumnType.STRING));

    /** Nine chunks of this length fill a file, and the tenth does not fit. */
    private static final int LONG_TEXT_BYTES = 7 << 20;

    @TempDir private Path directory;

    private static Chunk chunk(int firstKey, int rows, String text) {
        ChunkBuilder builder = new ChunkBuilder(SCHEMA, rows * 64);
        for (int i = 0; i < rows; i++) {
            builder.putLong(0, firstKey + i);
            builder.addString(text + i);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, 3, 0, 0);
    }

    @Test
    void shouldReadChunksThatItWrote() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            List<Chunk> chunks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                chunks.add(files.write(chunk(i, 1 + i % 17, "row ")));
            }
            for (int i = 0; i < 100; i++) {
                assertThat(chunks.get(i).array()).isNull();
                assertThat(chunks.get(i).onHeap()).isEqualTo(chunk(i, 1 + i % 17, "row "));
            }
        }
    }

    @Test
    void shouldLeaveNoFileInTheDirectory() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            files.write(chunk(0, 10, "row "));
            assertThat(directory).isEmptyDirectory();
        }
    }

    @Test
    void shouldCloseAFileWhenItsChunksHaveNoUser() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            List<Chunk> chunks = new ArrayList<>();
            String text = "x".repeat(LONG_TEXT_BYTES);
            long before = Region.openCount();
            for (int i = 0; i < 10; i++) {
                chunks.add(files.write(chunk(i, 1, text)));
            }
            assertThat(Region.openCount()).isEqualTo(before + 2);
            for (int i = 0; i < 8; i++) {
                chunks.get(i).release();
            }
            assertThat(Region.openCount()).isEqualTo(before + 2);
            chunks.get(8).release();
            assertThat(Region.openCount()).isEqualTo(before + 1);
            assertThat(chunks.get(9).getLong(0, 0)).isEqualTo(9);
        }
    }

    @Test
    void shouldKeepTheFileThatIsWrittenWhenItsChunksHaveNoUser() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            files.write(chunk(0, 10, "row ")).release();
            assertThat(files.write(chunk(5, 10, "row ")).onHeap()).isEqualTo(chunk(5, 10, "row "));
        }
    }

    @Test
    void shouldRejectADirectoryThatIsMissing() {
        try (ChunkFiles files = new ChunkFiles(directory.resolve("missing"))) {
            assertThatThrownBy(() -> files.write(chunk(0, 1, "row ")))
                    .isInstanceOf(IOException.class);
        }
    }
}
