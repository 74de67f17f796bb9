// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.example;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.readInPieces;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReadingsFormatTest {

    private static final int ROWS = 100_000;

    @TempDir Path folder;

    @Test
    void shouldReadEachRecordOnceInSplitsAndAfterRestores() throws IOException {
        ByteBuffer records = ByteBuffer.allocate(12 * ROWS);
        List<List<Object>> rows = new ArrayList<>();
        for (int i = 0; i < ROWS; i++) {
            records.putInt(i).putDouble(i / 8.0);
            rows.add(List.of((long) i, i / 8.0));
        }
        Path file = Files.write(folder.resolve("readings"), records.array());
        ReadingsFormat format = new ReadingsFormat();
        assertThat(read(format, file)).isEqualTo(rows);
        assertThat(readInPieces(format, file, new Random(1))).isEqualTo(rows);
        Files.write(file, Arrays.copyOf(records.array(), 12 * ROWS - 5));
        assertThatThrownBy(() -> read(format, file))
                .hasMessageContaining("Record is cut off: file=")
                .hasMessageContaining("offset=" + 12 * (ROWS - 1));
    }
}
