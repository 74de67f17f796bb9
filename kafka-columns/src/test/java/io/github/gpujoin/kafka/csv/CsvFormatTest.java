// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.csv;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.kafka.DecodedRows;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class CsvFormatTest {

    private static final CsvFormat FORMAT = CsvFormat.of("id", "unread", "text", "price");
    private static final ChunkSchema COLUMNS =
            ChunkSchema.of(
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.of("id", ColumnType.INT64));

    private static List<List<Object>> decode(CsvFormat format, String line) throws IOException {
        return DecodedRows.of(format, COLUMNS, List.of(line.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadQuotedAndUnquotedFields(long seed) throws IOException {
        Random random = new Random(seed);
        String[] parts = {"a", ",", "\"", "\r\n", "\u00e4", "\ud83d\ude00", " "};
        for (int i = 0; i < 1000; i++) {
            StringBuilder text = new StringBuilder();
            for (int length = random.nextInt(6); length >= 0; length--) {
                text.append(parts[random.nextInt(parts.length)]);
            }
            long id = random.nextLong() >> random.nextInt(64);
            double price = random.nextGaussian();
            String quoted = "\"" + text.toString().replace("\"", "\"\"") + "\"";
            String line = id + "," + quoted + "," + quoted + ",\"" + price + "\"";
            String end = new String[] {"", "\n", "\r\n"}[random.nextInt(3)];
            assertThat(decode(FORMAT, line + end))
                    .isEqualTo(List.of(List.of(text.toString(), price, id)));
        }
    }

    @Test
    void shouldReadAnEmptyFieldAsNullUnlessItIsQuoted() throws IOException {
        assertThat(decode(FORMAT, "true,,,1")).isEqualTo(List.of(Arrays.asList(null, 1.0, 1L)));
        assertThat(decode(FORMAT, "-7,,\"\",1")).isEqualTo(List.of(List.of("", 1.0, -7L)));
    }

    @Test
    void shouldSplitAtAnotherDelimiter() throws IOException {
        assertThat(decode(FORMAT.delimitedBy('|'), "1|,|a,b|2"))
                .isEqualTo(List.of(List.of("a,b", 2.0, 1L)));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "1,2,3|Line has too few fields: fields=3, expected=4",
                "1,2,3,4,5|Line has too many fields: expected=4",
                "1,\"2,3,4|Quote is not closed: position=2",
                "1,\"2\"x,3,4|Text follows a closing quote: position=5, field=1",
                "x,2,3,4|Field is no number of its column",
                "99999999999999999999,2,3,4|Field is no number of its column",
                ",2,3,4|Field is no number of its column"
            })
    void shouldNameWhatIsWrong(String line, String message) {
        assertThatThrownBy(() -> decode(FORMAT, line))
                .isInstanceOf(BadRecordException.class)
                .hasMessageContaining(message);
    }

    @Test
    void shouldRefuseColumnsThatNoFieldHas() {
        assertThatThrownBy(() -> CsvFormat.of("id", "text").open(COLUMNS))
                .hasMessage("Column is not in the line: column=price, fields=[id, text]");
    }
}
