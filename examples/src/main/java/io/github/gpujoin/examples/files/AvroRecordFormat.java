// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.run.Cli.UserError;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.apache.avro.AvroRuntimeException;
import org.apache.avro.Schema;
import org.apache.avro.file.DataFileReader;
import org.apache.avro.file.DataFileStream;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericDatumReader;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.formats.avro.RowDataToAvroConverters;
import org.apache.flink.formats.avro.RowDataToAvroConverters.RowDataToAvroConverter;
import org.apache.flink.formats.avro.typeutils.AvroSchemaConverter;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.table.api.ValidationException;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.LogicalTypeRoot;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.table.types.logical.utils.LogicalTypeChecks;
import org.jspecify.annotations.Nullable;

/** Avro container files, which contain their schema. */
final class AvroRecordFormat implements RecordFormat {

    /** Assumed size of a row, to estimate the row count from the file size. */
    private static final int GUESSED_ROW_BYTES = 40;

    /** Fractional digits of a second of a time of day in Flink's internal rows. */
    private static final int ROW_TIME_DIGITS = 3;

    /** Flink's types for arrays, maps, records, null, and unions of several types. */
    private static final Set<LogicalTypeRoot> NO_VALUES =
            EnumSet.of(
                    LogicalTypeRoot.ARRAY,
                    LogicalTypeRoot.MULTISET,
                    LogicalTypeRoot.MAP,
                    LogicalTypeRoot.ROW,
                    LogicalTypeRoot.NULL,
                    LogicalTypeRoot.RAW);

    @Override
    public RowType columns(Path file, Path schema) {
        return rowType(readerSchema(file, schema));
    }

    /** Returns the reader schema of the file. */
    private static Schema readerSchema(Path file, Path schema) {
        Path asked = schema == null ? file : schema;
        try {
            if (schema != null) {
                return new Schema.Parser().parse(schema.toFile());
            }
            try (DataFileReader<GenericRecord> reader =
                    new DataFileReader<>(file.toFile(), new GenericDatumReader<>())) {
                return reader.getSchema();
            }
        } catch (IOException | RuntimeException e) {
            throw new UserError(
                    "Not an Avro container file or Avro schema. Convert the file, or set --format:"
                            + " file="
                            + asked
                            + ", problem="
                            + e.getMessage());
        }
    }

    private static RowType rowType(Schema schema) {
        if (schema.getType() != Schema.Type.RECORD) {
            throw new UserError(
                    "The rows of the Avro file are not records. Wrap them in a record: schema="
                            + schema);
        }
        try {
            RowType columns =
                    (RowType)
                            AvroSchemaConverter.convertToDataType(schema.toString(), false)
                                    .getLogicalType();
            columns.getFields().forEach(AvroRecordFormat::requireHeld);
            return columns;
        } catch (IllegalArgumentException | ValidationException e) {
            throw new UserError(e.getMessage());
        }
    }

    private static void requireHeld(RowType.RowField column) {
        if (NO_VALUES.contains(column.getType().getTypeRoot())) {
            throw new IllegalArgumentException(
                    "Type of an Avro field is not supported: field=%s, type=%s.\nUse a number, boolean, text, enum, bytes, fixed, a logical type of these, or a union of one with null."
                            .formatted(column.getName(), column.getType()));
        }
        if (column.getType().is(LogicalTypeRoot.TIME_WITHOUT_TIME_ZONE)
                && LogicalTypeChecks.getPrecision(column.getType()) > ROW_TIME_DIGITS) {
            throw new IllegalArgumentException(
                    "Time of day finer than milliseconds. Use time-millis: field="
                            + column.getName()
                            + ", type="
                            + column.getType());
        }
    }

    @Override
    public long estimateRows(Path file) {
        return TableFileFormat.guessRows(file, GUESSED_ROW_BYTES);
    }

    @Override
    public FileSource<RowData> source(RecordFile file, BadLines badLines) {
        return FileSource.forRecordStreamFormat(
                        new AvroRowFormat(file.columns(), readerSchema(file.path(), file.schema())),
                        new org.apache.flink.core.fs.Path(file.path().toUri()))
                .build();
    }

    @Override
    public FileSink<RowData> sink(Path directory, RowType columns) {
        schema(columns);
        return FileSink.forBulkFormat(
                        new org.apache.flink.core.fs.Path(directory.toUri()),
                        out -> new RowWriter(columns, out))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
    }

    @Override
    public BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException {
        return new RowWriter(columns, out);
    }

    private static Schema schema(RowType columns) {
        try {
            return AvroSchemaConverter.convertToSchema(columns.copy(false), false);
        } catch (AvroRuntimeException
                | UnsupportedOperationException
                | IllegalArgumentException e) {
            throw new UserError(
                    "The result columns do not fit Avro. Rename them to letters, digits and _, or"
                            + " use another --format: columns="
                            + columns.asSummaryString()
                            + ", problem="
                            + e.getMessage());
        }
    }

    private static DataFileWriter<GenericRecord> writer(Schema schema, OutputStream out)
            throws IOException {
        return new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(schema))
                .create(schema, out);
    }

    @Override
    public void concatenate(List<Path> parts, RowType columns, Path out) throws IOException {
        try (DataFileWriter<GenericRecord> whole =
                writer(schema(columns), Files.newOutputStream(out))) {
            for (Path part : parts) {
                try (DataFileStream<GenericRecord> rows =
                        new DataFileStream<>(
                                Files.newInputStream(part), new GenericDatumReader<>())) {
                    whole.appendAllFrom(rows, false);
                }
            }
        }
    }

    /** Writes rows to a part file. The sink closes the stream. */
    private static final class RowWriter implements BulkWriter<RowData> {
        private final @Nullable Schema schema;
        private final RowDataToAvroConverter converter;
        private final AvroMicros micros;
        private final DataFileWriter<GenericRecord> writer;

        RowWriter(RowType columns, FSDataOutputStream out) throws IOException {
            this.schema = schema(columns);
            this.converter = RowDataToAvroConverters.createConverter(columns, false);
            this.micros = new AvroMicros(columns);
            this.writer = writer(schema, out);
        }

        @Override
        public void addElement(RowData row) throws IOException {
            GenericRecord record = (GenericRecord) converter.convert(schema, row);
            micros.write(row, record);
            writer.append(record);
        }

        @Override
        public void flush() throws IOException {
            writer.flush();
        }

        @Override
        public void finish() throws IOException {
            // The sink closes the stream.
            writer.flush();
        }
    }
}
