// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvEncoder;
import io.github.gpujoin.examples.csv.CsvFormat;
import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.csv.CsvHeader;
import io.github.gpujoin.examples.run.RowCounter;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.streaming.api.functions.sink.filesystem.rollingpolicies.OnCheckpointRollingPolicy;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** CSV files with a header line. All columns are text. */
final class CsvRecordFormat implements RecordFormat {

    @Override
    public RowType columns(Path file, Path schema) {
        return CsvHeader.read(file).rowType();
    }

    @Override
    public long estimateRows(Path file) {
        return RowCounter.estimate(file);
    }

    @Override
    public FileSource<RowData> source(RecordFile file, BadLines badLines) {
        return FileSource.forRecordStreamFormat(
                        new CsvFormat(file.path().toString(), file.columns(), badLines),
                        new org.apache.flink.core.fs.Path(file.path().toUri()))
                .build();
    }

    @Override
    public FileSink<RowData> sink(Path directory, RowType columns) {
        return FileSink.forRowFormat(
                        new org.apache.flink.core.fs.Path(directory.toUri()),
                        new CsvEncoder(columns))
                .withRollingPolicy(OnCheckpointRollingPolicy.build())
                .build();
    }

    @Override
    public BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException {
        CsvEncoder encoder = new CsvEncoder(columns);
        out.write(header(columns));
        return new BulkWriter<>() {
            @Override
            public void addElement(RowData row) throws IOException {
                encoder.encode(row, out);
            }

            @Override
            public void flush() throws IOException {
                out.flush();
            }

            @Override
            public void finish() throws IOException {
                flush();
            }
        };
    }

    private static byte[] header(RowType columns) {
        return new CsvEncoder(columns).line(columns.getFieldNames().toArray(String[]::new));
    }

    @Override
    public void concatenate(List<Path> parts, RowType columns, Path out) throws IOException {
        try (OutputStream to = new BufferedOutputStream(Files.newOutputStream(out), 1 << 16)) {
            to.write(header(columns));
            for (Path part : parts) {
                Files.copy(part, to);
            }
        }
    }
}
