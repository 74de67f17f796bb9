// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.formats.record.AvroRecords;
import io.github.gpujoin.formats.record.BadRecordException;
import io.github.gpujoin.formats.record.RowWriter;
import io.github.gpujoin.kafka.RecordDecoder;
import io.github.gpujoin.kafka.RecordFormat;
import java.util.Objects;
import org.apache.avro.Schema;
import org.apache.flink.annotation.PublicEvolving;
import org.jspecify.annotations.Nullable;

/**
 * Avro values, all of one schema and without a frame, as Flink's {@code avro} format writes them.
 * Columns are fields of the record, by name; other fields may have any type.
 *
 * <table>
 *   <caption>Types</caption>
 *   <tr><th>Avro</th><th>column</th></tr>
 *   <tr><td>boolean</td><td>INT8 to INT64, 0 or 1</td></tr>
 *   <tr><td>int, long; dates, times and timestamps in their unit</td><td>INT8 to INT64; a value
 *       that does not fit makes a bad record</td></tr>
 *   <tr><td>float</td><td>FLOAT32, FLOAT64</td></tr>
 *   <tr><td>double</td><td>FLOAT64</td></tr>
 *   <tr><td>string, enum (its symbol)</td><td>STRING</td></tr>
 *   <tr><td>bytes, fixed</td><td>BYTES</td></tr>
 *   <tr><td>decimal</td><td>INT8 to INT64, a count of its last digit; or BYTES</td></tr>
 *   <tr><td>union of such types, or of one and null</td><td>as above; a null in a column that is
 *       not nullable makes a bad record</td></tr>
 * </table>
 */
@PublicEvolving
public final class AvroFormat implements RecordFormat {

    private static final long serialVersionUID = 1L;

    private final Schema writer;
    private final @Nullable Schema reader;

    private AvroFormat(Schema writer, @Nullable Schema reader) {
        this.writer = writer;
        this.reader = reader;
    }

    /**
     * Creates a format.
     *
     * @param writer schema with which the values were written, a record
     * @return the format
     */
    public static AvroFormat of(Schema writer) {
        return new AvroFormat(Objects.requireNonNull(writer, "writer"), null);
    }

    /**
     * Creates a format.
     *
     * @param writerJson the same schema as JSON
     * @return the format
     */
    public static AvroFormat of(String writerJson) {
        return of(new Schema.Parser().parse(Objects.requireNonNull(writerJson, "writerJson")));
    }

    /**
     * Returns a format that also finds fields by the aliases of another schema, and takes its
     * defaults for fields that the writer does not have.
     *
     * @param schema the reader's
     * @return the format
     */
    public AvroFormat readAs(Schema schema) {
        return new AvroFormat(writer, Objects.requireNonNull(schema, "schema"));
    }

    @Override
    public RecordDecoder open(ChunkSchema schema) {
        AvroRecords records = AvroRecords.of(writer, reader, schema);
        return (value, row) -> decode(records, value, 0, row);
    }

    /** Decodes a record that is the rest of a value. */
    static void decode(AvroRecords records, byte[] value, int from, RowWriter row)
            throws BadRecordException {
        int left = value.length - records.decode(value, from, value.length, row);
        if (left > 0) {
            throw new BadRecordException(
                    "Bytes follow the record, which has another schema: bytes=" + left);
        }
    }
}
