// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.run.Cli.UserError;
import io.github.gpujoin.formats.parquet.FileFault;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Map;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.core.fs.local.LocalDataInputStream;
import org.apache.flink.formats.parquet.ParquetColumnarRowInputFormat;
import org.apache.flink.formats.parquet.ParquetInputFile;
import org.apache.flink.formats.parquet.row.ParquetRowDataBuilder;
import org.apache.flink.formats.parquet.utils.ParquetSchemaConverter;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.hadoop.conf.Configuration;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.ParquetWriter;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.LocalOutputFile;
import org.apache.parquet.schema.MessageType;

/** Parquet files without nested columns. Timestamps are written as microseconds without a zone. */
final class ParquetRecordFormat implements RecordFormat {

    private static final int BATCH_ROWS = 2048;

    /** Configuration of Parquet's readers and writers, which require Hadoop's class. */
    private static Configuration configuration() {
        Configuration configuration = new Configuration(false);
        configuration.setBoolean("parquet.write.int64.timestamp", true);
        configuration.set("parquet.timestamp.time.unit", "micros");
        return configuration;
    }

    @Override
    public RowType columns(Path file, Path schema) {
        try (ParquetFileReader reader = open(file)) {
            return ParquetColumns.rowType(reader.getFileMetaData().getSchema());
        } catch (IllegalArgumentException e) {
            throw new UserError(
                    "%s, file=%s. Cast or remove the column.".formatted(e.getMessage(), file));
        } catch (IOException e) {
            throw new UserError(e.getMessage());
        }
    }

    /** Returns the columns of a file. */
    static MessageType types(Path file) throws IOException {
        try (ParquetFileReader reader = open(file)) {
            return reader.getFileMetaData().getSchema();
        }
    }

    private static ParquetFileReader open(Path file) throws IOException {
        // The default options would parse Hadoop's configuration for each file.
        ParquetReadOptions options =
                ParquetReadOptions.builder(new PlainParquetConfiguration()).build();
        try {
            return ParquetFileReader.open(new LocalInputFile(file), options);
        } catch (IOException | RuntimeException e) {
            throw FileFault.of(
                    new org.apache.flink.core.fs.Path(file.toUri()), Files.size(file), e);
        }
    }

    @Override
    public long estimateRows(Path file) {
        try (ParquetFileReader reader = open(file)) {
            return reader.getRecordCount();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public FileSource<RowData> source(RecordFile file, BadLines badLines) {
        RowType columns = file.columns();
        ParquetColumnarRowInputFormat<FileSourceSplit> format =
                new ParquetColumnarRowInputFormat<>(
                        configuration(),
                        columns,
                        InternalTypeInfo.of(columns),
                        BATCH_ROWS,
                        true,
                        true);
        return FileSource.forBulkFileFormat(
                        format, new org.apache.flink.core.fs.Path(file.path().toUri()))
                .build();
    }

    @Override
    public FileSink<RowData> sink(Path directory, RowType columns) {
        return FileSink.forBulkFormat(
                        new org.apache.flink.core.fs.Path(directory.toUri()), writers(columns))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
    }

    @Override
    public BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException {
        return writers(columns).create(out);
    }

    private static BulkWriter.Factory<RowData> writers(RowType columns) {
        return ParquetRowDataBuilder.createWriterFactory(columns, configuration(), true);
    }

    @Override
    public void concatenate(List<Path> parts, RowType columns, Path out) throws IOException {
        if (parts.size() == 1) {
            Files.move(parts.get(0), out, StandardCopyOption.REPLACE_EXISTING);
            return;
        }
        ParquetFileWriter whole =
                new ParquetFileWriter(
                        new LocalOutputFile(out),
                        ParquetSchemaConverter.convertToParquetMessageType(
                                "flink_schema", columns, configuration()),
                        ParquetFileWriter.Mode.OVERWRITE,
                        ParquetWriter.DEFAULT_BLOCK_SIZE,
                        ParquetWriter.MAX_PADDING_SIZE_DEFAULT);
        try (whole) {
            whole.start();
            for (Path part : parts) {
                // LocalInputFile would read byte by byte.
                try (LocalDataInputStream in = new LocalDataInputStream(part.toFile())) {
                    whole.appendFile(new ParquetInputFile(in, Files.size(part)));
                }
            }
            whole.end(Map.of());
        }
    }
}
