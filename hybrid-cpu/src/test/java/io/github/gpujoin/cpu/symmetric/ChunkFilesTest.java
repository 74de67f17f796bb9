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
import java.nio.file.Files;
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

    private static KeptChunk moved(ChunkFiles files, Chunk chunk) throws IOException {
        KeptChunk kept = new KeptChunk(chunk, new ChunkLog(0), 0, new int[1]);
        files.move(kept);
        return kept;
    }

    @Test
    void shouldReadChunksThatItMoved() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            List<KeptChunk> chunks = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                chunks.add(moved(files, chunk(i, 1 + i % 17, "row ")));
            }
            for (int i = 0; i < 100; i++) {
                assertThat(chunks.get(i).isSpilled()).isTrue();
                assertThat(chunks.get(i).chunk.onHeap()).isEqualTo(chunk(i, 1 + i % 17, "row "));
            }
        }
    }

    @Test
    void shouldLeaveNoFileInTheDirectory() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            moved(files, chunk(0, 10, "row "));
            assertThat(directory).isEmptyDirectory();
        }
    }

    @Test
    void shouldCloseAFileWhenItsChunksHaveNoUser() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            long before = Region.openCount();
            List<KeptChunk> chunks = twoFiles(files);
            assertThat(Region.openCount()).isEqualTo(before + 2);
            for (int i = 0; i < 8; i++) {
                chunks.get(i).chunk.release();
            }
            assertThat(Region.openCount()).isEqualTo(before + 2);
            chunks.get(8).chunk.release();
            assertThat(Region.openCount()).isEqualTo(before + 1);
            assertThat(chunks.get(9).chunk.getLong(0, 0)).isEqualTo(9);
        }
    }

    /** Returns ten long chunks, the last of which is in a file of its own. */
    private static List<KeptChunk> twoFiles(ChunkFiles files) throws IOException {
        List<KeptChunk> chunks = new ArrayList<>();
        String text = "x".repeat(LONG_TEXT_BYTES);
        for (int i = 0; i < 10; i++) {
            chunks.add(moved(files, chunk(i, 1, text)));
        }
        return chunks;
    }

    /** A file has room for nine chunks, of which two are less than a quarter. */
    @Test
    void shouldCopyTheFewChunksOfAFileAndCloseIt() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            List<KeptChunk> chunks = twoFiles(files);
            long before = Region.openCount();
            for (int i = 2; i < 9; i++) {
                files.compact();
                assertThat(Region.openCount()).isEqualTo(before);
                chunks.get(i).chunk.release();
            }
            files.compact();
            assertThat(Region.openCount()).isEqualTo(before - 1);
            for (int i : new int[] {0, 1, 9}) {
                assertThat(chunks.get(i).isSpilled()).isTrue();
                assertThat(chunks.get(i).chunk.getLong(0, 0)).isEqualTo(i);
            }
        }
    }

    @Test
    void shouldKeepChunksWhereTheyAreIfTheDiskIsFull() throws Exception {
        Path full = Files.createDirectory(directory.resolve("full"));
        try (ChunkFiles files = new ChunkFiles(full)) {
            List<KeptChunk> chunks = twoFiles(files);
            moved(files, chunk(10, 1, "x".repeat(8 * LONG_TEXT_BYTES)));
            for (int i = 1; i < 9; i++) {
                chunks.get(i).chunk.release();
            }
            Files.delete(full);
            long before = Region.openCount();
            files.compact();
            assertThat(Region.openCount()).isEqualTo(before);
            assertThat(chunks.get(0).isSpilled()).isTrue();
            assertThat(chunks.get(0).chunk.getLong(0, 0)).isZero();
            Files.createDirectory(full);
            files.compact();
            assertThat(chunks.get(0).chunk.getLong(0, 0)).isZero();
        }
    }

    @Test
    void shouldKeepTheFileThatIsWrittenWhenItsChunksHaveNoUser() throws Exception {
        try (ChunkFiles files = new ChunkFiles(directory)) {
            moved(files, chunk(0, 10, "row ")).chunk.release();
            assertThat(moved(files, chunk(5, 10, "row ")).chunk.onHeap())
                    .isEqualTo(chunk(5, 10, "row "));
        }
    }

    @Test
    void shouldRejectADirectoryThatIsMissing() {
        try (ChunkFiles files = new ChunkFiles(directory.resolve("missing"))) {
            assertThatThrownBy(() -> moved(files, chunk(0, 1, "row ")))
                    .isInstanceOf(IOException.class);
        }
    }
}
