// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.json;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.kafka.DecodedRows;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class JsonFormatTest {

    private static final ChunkSchema COLUMNS =
            ChunkSchema.of(
                    Column.nullable("text", ColumnType.STRING),
                    Column.of("id", ColumnType.INT64),
                    Column.nullable("small", ColumnType.INT16),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.of("flag", ColumnType.INT8),
                    Column.of("raw", ColumnType.BYTES));

    private static List<List<Object>> decode(String json) throws IOException {
        return DecodedRows.of(
                JsonFormat.create(), COLUMNS, List.of(json.getBytes(StandardCharsets.UTF_8)));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldReadWhatJacksonWrites(long seed) throws IOException {
        Random random = new Random(seed);
        ObjectMapper mapper = new ObjectMapper();
        List<byte[]> values = new ArrayList<>();
        List<List<Object>> expected = new ArrayList<>();
        for (int i = 0; i < 500; i++) {
            String text = "\ud83d\ude00 \u00e4\u20ac\"\\\n".repeat(random.nextInt(60));
            byte[] raw = new byte[random.nextInt(300)];
            random.nextBytes(raw);
            ObjectNode json = mapper.createObjectNode();
            json.putObject("nested").put("id", "no number").putArray("list").add(1);
            json.put("raw", raw).put("id", random.nextLong()).put("flag", i % 2 == 0);
            json.put("price", random.nextGaussian());
            if (i % 3 == 0) {
                json.put("small", i).put("text", text);
            } else if (i % 3 == 1) {
                json.putNull("small").putNull("text");
            }
            values.add(mapper.writeValueAsBytes(json));
            expected.add(
                    Arrays.asList(
                            i % 3 == 0 ? text : null,
                            json.get("id").longValue(),
                            i % 3 == 0 ? (long) i : null,
                            json.get("price").doubleValue(),
                            i % 2 == 0 ? 1L : 0L,
                            ByteBuffer.wrap(raw)));
        }
        assertThat(DecodedRows.of(JsonFormat.create(), COLUMNS, values)).isEqualTo(expected);
    }

    @Test
    void shouldTakeTheLastValueOfAFieldThatIsThereTwice() throws IOException {
        assertThat(decode("{\"id\":1,\"price\":1,\"flag\":1,\"raw\":\"\",\"id\":2}"))
                .isEqualTo(List.of(Arrays.asList(null, 2L, null, 1.0, 1L, ByteBuffer.allocate(0))));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "[1]|Value is no JSON object",
                "{\"id\":1|field=id",
                "{\"id\":\"1\"}|Value is of another type than its column",
                "{\"id\":1.5}|Value is of another type than its column",
                "{\"id\":99999999999999999999}|field=id",
                "{\"id\":null}|Null in a column that is not nullable: column=id",
                "{\"id\":1}|No value for a column that is not nullable: column=price",
                "{\"small\":70000}|Value is out of range",
                "{\"text\":\"\\ud83d\"}|surrogate without its other half",
                "{\"raw\":\"!\"}|field=raw",
                "{} {}|More follows the JSON object"
            })
    void shouldNameWhatIsWrong(String json, String message) {
        assertThatThrownBy(() -> decode(json))
                .isInstanceOf(BadRecordException.class)
                .hasMessageContaining(message);
    }
}
