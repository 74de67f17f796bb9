// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.text;

import static io.github.gpujoin.formats.testing.FormatRows.read;
import static io.github.gpujoin.formats.testing.FormatRows.readInPieces;
import static org.assertj.core.api.Assertions.assertThat;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.stream.Stream;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.provider.MethodSource;

/** Reads arbitrary bytes as text: whole and in pieces it has the same rows, or is refused. */
class TextFuzzTest {

    private static final TextColumn[] COLUMNS = {
        TextColumn.of("a", TextType.INT32),
        TextColumn.of("b", TextType.TEXT),
        TextColumn.of("c", TextType.FLOAT64).asNullable(),
    };

    private static final List<TextFormat> FORMATS =
            List.of(
                    TextFormat.tbl(COLUMNS),
                    TextFormat.csv(COLUMNS),
                    TextFormat.csv(COLUMNS).quotedLineBreaks(),
                    TextFormat.csv(COLUMNS).withoutHeader());

    @TempDir static Path directory;

    static Stream<byte[]> seeds() {
        Random random = new Random(11);
        String[] tokens = {
            "1", "-7", "|", "|", ",", ",", "\"", "\n", "\r\n", "x", "2.5", "a,b,c\n"
        };
        return Stream.concat(
                Stream.of(new byte[0]),
                Stream.generate(
                                () -> {
                                    StringBuilder text = new StringBuilder();
                                    for (int i = random.nextInt(60); i > 0; i--) {
                                        text.append(tokens[random.nextInt(tokens.length)]);
                                    }
                                    return text.toString().getBytes(StandardCharsets.UTF_8);
                                })
                        .limit(300));
    }

    @MethodSource("seeds")
    @FuzzTest(maxDuration = "5m")
    void shouldReadTextOrRefuseIt(byte[] input) throws IOException {
        if (input == null) {
            return;
        }
        Path file = Files.write(directory.resolve("fuzz"), input);
        for (TextFormat format : FORMATS) {
            List<?> rows;
            try {
                rows = read(format, file);
            } catch (IOException e) {
                assertThat(e).hasMessageContaining("fuzz");
                continue;
            }
            assertThat(readInPieces(format.chunkBytes(1), file, new Random(5))).isEqualTo(rows);
        }
    }
}
