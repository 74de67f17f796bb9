// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.csv;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.RecordFormat;
import java.util.List;
import org.apache.flink.annotation.PublicEvolving;

/**
 * Values that are one line of delimited text each, by RFC 4180: a field may stand in double quotes,
 * and then contain delimiters, line ends, and quotes that are doubled. The line may end with CR LF
 * or LF. An empty field without quotes is null if its column is nullable; else it is an empty text,
 * or a bad record. An integer column also reads {@code true} and {@code false}.
 */
@PublicEvolving
public final class CsvFormat implements RecordFormat {

    private static final long serialVersionUID = 1L;

    private final List<String> fields;
    private final char delimiter;

    private CsvFormat(List<String> fields, char delimiter) {
        this.fields = fields;
        this.delimiter = delimiter;
    }

    /**
     * Creates a format with commas between fields.
     *
     * @param fields names of all fields of a line, in order; a line with more or fewer is a bad
     *     record
     * @return the format
     */
    public static CsvFormat of(String... fields) {
        List<String> names = List.of(fields);
        if (names.isEmpty() || names.stream().distinct().count() < names.size()) {
            throw new IllegalArgumentException(
                    "Fields have no names, or two have the same: fields=" + names);
        }
        return new CsvFormat(names, ',');
    }

    /**
     * Returns a format with another delimiter.
     *
     * @param character between fields, of one byte
     * @return the format
     */
    public CsvFormat delimitedBy(char character) {
        if (character >= 0x80 || character == '"' || character == '\r' || character == '\n') {
            throw new IllegalArgumentException(
                    "Delimiter is a quote, a line end or no ASCII character: delimiter=0x"
                            + Integer.toHexString(character));
        }
        return new CsvFormat(fields, character);
    }

    @Override
    public RecordDecoder open(ChunkSchema schema) {
        int[] columns = new int[fields.size()];
        for (int i = 0; i < columns.length; i++) {
            columns[i] = schema.indexOf(fields.get(i));
        }
        for (int i = 0; i < schema.size(); i++) {
            String name = schema.column(i).name();
            if (!fields.contains(name)) {
                throw new IllegalArgumentException(
                        "Column is not in the line: column=" + name + ", fields=" + fields);
            }
        }
        return new CsvDecoder(schema, columns, (byte) delimiter);
    }
}
