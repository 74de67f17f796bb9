// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.io.BinaryEncoder;
import org.apache.avro.io.EncoderFactory;
import org.apache.flink.annotation.Internal;
import org.jspecify.annotations.Nullable;

/**
 * Decodes Avro records of one writer's schema into rows. A program of {@link AvroOperations}, made
 * once for the schema and a chunk's columns, reads the fields in the order of their bytes: wanted
 * ones go straight into the arrays of the chunk, others are skipped. Every read checks the end of
 * the record. Not thread-safe.
 */
@Internal
public final class AvroRecords {

    /** What the program does, and the field of it, for messages. */
    private record Step(String field, MethodHandle operation) {}

    private final Schema writer;
    private final @Nullable Schema reader;
    private final ChunkSchema columns;
    private final int columnCount;

    /** Whether the records have all variable-width columns in the order of the chunk. */
    private final boolean isInOrder;

    /** The row that the program is compiled for. */
    private @Nullable RowWriter row;

    private List<Step> steps = List.of();
    private MethodHandle program = AvroCompiler.sequence(List.of());

    private AvroRecords(Schema writer, @Nullable Schema reader, ChunkSchema columns) {
        this.writer = writer;
        this.reader = reader;
        this.columns = columns;
        this.columnCount = columns.size();
        int[] order =
                writer.getFields().stream()
                        .mapToInt(field -> columns.indexOf(field.name()))
                        .filter(column -> column >= 0 && !columns.column(column).isFixed())
                        .toArray();
        this.isInOrder =
                order.length == columns.variableWidthColumnCount()
                        && IntStream.range(1, order.length).allMatch(i -> order[i - 1] < order[i]);
    }

    /**
     * Compiles a program.
     *
     * @param writer schema of the records
     * @param reader whose aliases and defaults apply; null if every column is a field of the writer
     * @param columns to read, by the names of the fields
     * @throws IllegalArgumentException if there is no field for a column, or one of another type
     */
    public static AvroRecords of(Schema writer, @Nullable Schema reader, ChunkSchema columns) {
        requireRecord(writer);
        if (reader != null) {
            requireRecord(reader);
        }
        Schema written = reader == null ? writer : Schema.applyAliases(writer, reader);
        AvroRecords records = new AvroRecords(written, reader, columns);
        records.compile(new RowWriter(new ChunkBuilder(columns, 1)));
        return records;
    }

    private void compile(RowWriter target) {
        target.requireColumns(columns);
        AvroCompiler compiler = new AvroCompiler(target);
        List<Step> compiled = new ArrayList<>();
        int numbers = 0;
        for (Schema.Field field : writer.getFields()) {
            int index = columns.indexOf(field.name());
            boolean isSkippedNumber = index < 0 && AvroCompiler.isNumber(field.schema());
            numbers = isSkippedNumber ? numbers + 1 : 0;
            if (numbers > 1) { // together with the numbers before
                String first = compiled.remove(compiled.size() - 1).field().split("\\.\\.")[0];
                String fields = first + ".." + field.name();
                compiled.add(new Step(fields, AvroCompiler.skipNumbers(numbers)));
            } else {
                MethodHandle operation =
                        index < 0
                                ? compiler.skip(field.schema())
                                : compiler.read(field.schema(), columns.column(index), index);
                compiled.add(new Step(field.name(), operation));
            }
        }
        for (int i = 0; i < columns.size(); i++) {
            String name = columns.column(i).name();
            if (writer.getField(name) == null) {
                compiled.add(new Step(name, defaultOf(columns.column(i), i, compiler)));
            }
        }
        steps = compiled;
        program = AvroCompiler.sequence(compiled.stream().map(Step::operation).toList());
        row = target;
    }

    private static void requireRecord(Schema schema) {
        if (schema.getType() != Schema.Type.RECORD) {
            throw new IllegalArgumentException(
                    "Avro schema is no record: type=" + schema.getType());
        }
    }

    private MethodHandle defaultOf(Column column, int index, AvroCompiler compiler) {
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
        MethodHandle operation = compiler.read(field.schema(), column, index);
        return AvroCompiler.constant(operation, encodeDefault(field));
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

    /**
     * Decodes one record into the row that was begun. All columns are then written.
     *
     * @param in array with the record, which must not change until the row ends
     * @param from index of its first byte
     * @param to index behind the last byte that it may have
     * @param target row whose first columns are those of this program
     * @return the index behind the record
     * @throws BadRecordException if the bytes are no record of the schema, or a column cannot hold
     *     a value; the message names the field
     */
    public int decode(byte[] in, int from, int to, RowWriter target) throws BadRecordException {
        Objects.checkFromToIndex(from, to, in.length);
        if (target != row) {
            compile(target);
        }
        target.setInOrder(isInOrder);
        int end;
        try {
            end = run(program, from, in, to, target);
        } catch (BadRecordException e) {
            throw named(e, from, in, to, target);
        }
        target.setInOrder(false);
        target.setWritten(columnCount);
        return end;
    }

    private static int run(MethodHandle program, int from, byte[] in, int to, RowWriter row)
            throws BadRecordException {
        try {
            return (int) program.invokeExact(from, in, to, row);
        } catch (BadRecordException | RuntimeException | Error e) {
            throw e;
        } catch (Throwable e) {
            throw new IllegalStateException(e);
        }
    }

    /** Finds the field of a fault step by step; what it writes is discarded with the row. */
    private BadRecordException named(
            BadRecordException fault, int from, byte[] in, int to, RowWriter row) {
        int at = from;
        for (Step step : steps) {
            try {
                at = run(step.operation(), at, in, to, row);
            } catch (BadRecordException e) {
                return new BadRecordException("field=" + step.field() + ": " + e.getMessage(), e);
            }
        }
        return fault;
    }
}
