// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Random;
import org.apache.parquet.io.SeekableInputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FlinkInputFileTest {

    @TempDir Path folder;
    private final byte[] content = new byte[200_000];
    private Path file;

    @BeforeEach
    void write() throws IOException {
        new Random(5).nextBytes(content);
        file = folder.resolve("f");
        Files.write(file, content);
    }

    private SeekableInputStream open() throws IOException {
        return new FlinkInputFile(new org.apache.flink.core.fs.Path(file.toUri()), content.length)
                .newStream();
    }

    @Test
    void shouldReadAgainWhatBypassedTheBuffer() throws IOException {
        try (SeekableInputStream in = open()) {
            in.readFully(new byte[10]);
            in.readFully(new byte[60_000]);
            in.seek(60_000);
            assertThat(in.read()).isEqualTo(content[60_000] & 0xFF);
        }
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3, 4})
    void shouldReadAnyPart(long seed) throws IOException {
        Random random = new Random(seed);
        int at = 0;
        try (SeekableInputStream in = open()) {
            for (int i = 0; i < 2_000; i++) {
                assertThat(in.getPos()).isEqualTo(at);
                switch (random.nextInt(4)) {
                    case 0 -> {
                        int ahead = (random.nextInt(3) - 1) * random.nextInt(40_000);
                        at = Math.max(0, Math.min(content.length, at + ahead));
                        in.seek(at);
                    }
                    case 1 -> at += (int) in.skip(random.nextInt(30_000));
                    case 2 -> {
                        byte[] bytes =
                                new byte[Math.min(content.length - at, 1 << random.nextInt(17))];
                        in.readFully(bytes);
                        byte[] expected = Arrays.copyOfRange(content, at, at + bytes.length);
                        assertThat(bytes).isEqualTo(expected);
                        at += bytes.length;
                    }
                    default -> {
                        int expected = at == content.length ? -1 : content[at++] & 0xFF;
                        assertThat(in.read()).isEqualTo(expected);
                    }
                }
            }
        }
    }
}
