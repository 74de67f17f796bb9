// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.json;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.exc.StreamReadException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.RecordFormat;
import java.io.IOException;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Values that are JSON objects in UTF-8. Columns are fields of the object, by name; other fields
 * are skipped. An integer column reads integers, and true and false as 1 and 0; a float column any
 * number; a STRING column text; a BYTES column text in Base64. A field that is absent is null, as
 * null itself; of a field that is there twice, the last value counts. A value of another type makes
 * a bad record.
 */
@PublicEvolving
public final class JsonFormat implements RecordFormat {

    private static final long serialVersionUID = 1L;

    private JsonFormat() {}

    /**
     * Creates a format.
     *
     * @return the format
     */
    public static JsonFormat create() {
        return new JsonFormat();
    }

    @Override
    public RecordDecoder open(ChunkSchema schema) {
        return new Decoder(schema);
    }

    private static final class Decoder implements RecordDecoder {

        private static final int SKIPPED = -1;

        private final ChunkSchema schema;
        private final JsonFactory json = new JsonFactory();
        private final Utf8Scratch text = new Utf8Scratch();

        /**
         * Index of each column by its name. Jackson returns one String for equal names, whose hash
         * is computed once.
         */
        private final Map<String, Integer> indexes = new HashMap<>();

        Decoder(ChunkSchema schema) {
            this.schema = schema;
            for (int i = 0; i < schema.size(); i++) {
                indexes.put(schema.column(i).name(), i);
            }
        }

        @Override
        public void decode(byte[] value, RowWriter row) throws IOException {
            text.clear();
            String name = "";
            try (JsonParser in = json.createParser(value)) {
                if (in.nextToken() != JsonToken.START_OBJECT) {
                    throw new BadRecordException(
                            "Value is no JSON object: token=" + in.currentToken());
                }
                for (String next = in.nextFieldName(); next != null; next = in.nextFieldName()) {
                    name = next;
                    int column = indexes.getOrDefault(name, SKIPPED);
                    JsonToken token = in.nextToken();
                    if (column == SKIPPED) {
                        in.skipChildren();
                    } else {
                        read(in, token, column, row);
                    }
                }
                if (in.nextToken() != null) {
                    throw new BadRecordException(
                            "More follows the JSON object: token=" + in.currentToken());
                }
            } catch (BadRecordException e) {
                throw e;
            } catch (StreamReadException e) {
                throw new BadRecordException(
                        "Value is no JSON that can be read: field="
                                + name
                                + ", cause="
                                + e.getOriginalMessage(),
                        e);
            } catch (IOException e) {
                // Only invalid UTF-8 and Base64 are left: there is no input or output.
                throw new BadRecordException(
                        "Value is no JSON that can be read: field=" + name + ", cause=" + e, e);
            }
        }

        private void read(JsonParser in, JsonToken token, int index, RowWriter row)
                throws IOException {
            Column column = schema.column(index);
            if (token == JsonToken.VALUE_NULL) {
                row.putNull(index);
                return;
            }
            switch (column.type()) {
                case INT8, INT16, INT32, INT64 -> {
                    if (token == JsonToken.VALUE_NUMBER_INT) {
                        row.putLong(index, in.getLongValue());
                    } else if (token.isBoolean()) {
                        row.putLong(index, token == JsonToken.VALUE_TRUE ? 1 : 0);
                    } else {
                        throw otherType(column, token);
                    }
                }
                case FLOAT32, FLOAT64 -> {
                    if (!token.isNumeric()) {
                        throw otherType(column, token);
                    }
                    row.putDouble(index, in.getDoubleValue());
                }
                case STRING, BYTES -> {
                    if (token != JsonToken.VALUE_STRING) {
                        throw otherType(column, token);
                    }
                    int start = text.length();
                    append(in, column);
                    row.putBytes(index, text.array(), start, text.length() - start);
                }
            }
        }

        private void append(JsonParser in, Column column) throws IOException {
            switch (column.type()) {
                case BYTES -> text.append(in.getBinaryValue());
                default -> {
                    if (!text.append(
                            in.getTextCharacters(), in.getTextOffset(), in.getTextLength())) {
                        throw new BadRecordException(
                                "Text contains a surrogate without its other half: column="
                                        + column.name());
                    }
                }
            }
        }

        private static BadRecordException otherType(Column column, JsonToken token) {
            return new BadRecordException(
                    "Value is of another type than its column: column="
                            + column
                            + ", token="
                            + token);
        }
    }
}
