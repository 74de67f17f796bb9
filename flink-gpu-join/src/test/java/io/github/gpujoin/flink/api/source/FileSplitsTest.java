// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.file.Path;
import java.util.Collection;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FileSplitsTest {

    @TempDir private Path directory;

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 1 << 20, (1 << 20) + 1, 9_000_000, 200_000_000})
    void shouldCutAFileIntoSplitsThatCoverItOnce(int size) throws IOException {
        Path file = directory.resolve("sized");
        try (RandomAccessFile sized = new RandomAccessFile(file.toFile(), "rw")) {
            sized.setLength(size);
        }
        var paths =
                new org.apache.flink.core.fs.Path[] {
                    new org.apache.flink.core.fs.Path(file.toUri())
                };
        long next = 0;
        Collection<FileSourceSplit> splits = new FileSplits().enumerateSplits(paths, 2);
        assertThat(splits).isNotEmpty();
        for (FileSourceSplit split : splits) {
            assertThat(split.offset()).isEqualTo(next);
            assertThat(split.length()).isBetween(Math.min(1L, size), FileSplits.LARGEST_BYTES);
            next += split.length();
        }
        assertThat(next).isEqualTo(size);
    }
}
