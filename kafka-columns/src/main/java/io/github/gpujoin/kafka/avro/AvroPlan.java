// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.kafka.BadRecordException;
import io.github.gpujoin.kafka.RowWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.jspecify.annotations.Nullable;

/**
 * What to do with each field of a writer's record, in the order of its bytes. Made once for a
 * schema, applied to each record. Not thread-safe.
 */
final class AvroPlan {

    private final AvroStep[] steps;

    /** Name of the field that each step reads, for messages. */
    private final String[] names;

    private AvroPlan(List<AvroStep> steps, List<String> names) {
        this.steps = steps.toArray(AvroStep[]::new);
        this.names = names.toArray(String[]::new);
    }

    /**
     * Makes a plan.
     *
     * @param writer schema of the records
     * @param reader whose aliases and defaults apply; null if every column is a field of the writer
     * @param columns to read, by the names of the fields
     * @throws IllegalArgumentException if there is no field for a column, or one of another type
     */
    static AvroPlan of(Schema writer, @Nullable Schema reader, ChunkSchema columns) {
        requireRecord(writer);
        if (reader != null) {
            requireRecord(reader);
        }
        Schema written = reader == null ? writer : Schema.applyAliases(writer, reader);
        List<AvroStep> steps = new ArrayList<>();
        List<String> names = new ArrayList<>();
        AvroSkips skips = new AvroSkips();
        for (Schema.Field field : written.getFields()) {
            int index = columns.indexOf(field.name());
            names.add(field.name());
            steps.add(
                    index < 0
                            ? skips.of(field.schema())
                            : AvroReads.of(field.schema(), columns.column(index), index));
        }
        for (int i = 0; i < columns.size(); i++) {
            Column column = columns.column(i);
            if (written.getField(column.name()) == null) {
                names.add(column.name());
                steps.add(defaultOf(reader, written, column, i));
            }
        }
        return new AvroPlan(steps, names);
    }

    private static void requireRecord(Schema schema) {
        if (schema.getType() != Schema.Type.RECORD) {
            throw new IllegalArgumentException(
                    "Avro schema is no record: type=" + schema.getType());
        }
    }

    private static AvroStep defaultOf(
            @Nullable Schema reader, Schema writer, Column column, int index) {
        Schema.Field field = reader == null ? null : reader.getField(column.name());
        if (field == null || !field.hasDefaultValue()) {
            throw new IllegalArgumentException(
                    "Column is not in the Avro schema"
                            + (field == null ? "" : ", and has no default in the reader's")
                            + ": column="
                            + column.name()
                            + ", fields="
                            + writer.getFields().stream().map(Schema.Field::name).toList());
        }
        byte[] value = encodeDefault(field);
        AvroStep step = AvroReads.of(field.schema(), column, index);
        AvroInput in = new AvroInput();
        return (ignored, row) -> {
            in.wrap(value, 0, value.length);
            step.apply(in, row);
        };
    }

    private static byte[] encodeDefault(Schema.Field field) {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        BinaryEncoder encoder = EncoderFactory.get().directBinaryEncoder(bytes, null);
        try {
            new GenericDatumWriter<>(field.schema())
                    .write(GenericData.get().getDefaultValue(field), encoder);
        } catch (IOException | AvroRuntimeException e) {
            throw new IllegalArgumentException("Default value is invalid: field=" + field, e);
        }
        return bytes.toByteArray();
    }

    /** Reads one record. */
    void read(AvroInput in, RowWriter row) throws BadRecordException {
        int i = 0;
        try {
            for (; i < steps.length; i++) {
                steps[i].apply(in, row);
            }
        } catch (BadRecordException e) {
            throw new BadRecordException("field=" + names[i] + ": " + e.getMessage(), e);
        }
    }
}
