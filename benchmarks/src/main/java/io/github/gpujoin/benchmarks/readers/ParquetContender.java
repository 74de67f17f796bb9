// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.readers;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import io.github.gpujoin.formats.parquet.ParquetFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.formats.parquet.ParquetColumnarRowInputFormat;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.IntType;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.parquet.column.ColumnReader;
import org.apache.parquet.column.impl.ColumnReadStoreImpl;
import org.apache.parquet.column.page.PageReadStore;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.LocalInputFile;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.MessageType;

/** Reads INT32 columns of a Parquet file with one thread, and adds up all values. */
public enum ParquetContender {
    /** {@code ParquetFormat}, which makes chunks. */
    OURS {
        @Override
        public long sum(Path file, List<String> columns) throws IOException {
            ChunkSchema schema =
                    ChunkSchema.of(
                            columns.stream()
                                    .map(name -> Column.of(name, ColumnType.INT32))
                                    .toList());
            long bytes = Files.size(file);
            ColumnarSplit whole = new ColumnarSplit(flinkPath(file), 0, bytes, bytes);
            long sum = 0;
            try (ColumnarReader reader =
                    ParquetFormat.of(schema).open(whole, ColumnarPosition.START)) {
                for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                    for (int column = 0; column < schema.size(); column++) {
                        for (int row = 0; row < chunk.rowCount(); row++) {
                            sum += chunk.getInt(column, row);
                        }
                    }
                }
            }
            return sum;
        }
    },
    /** Flink's vectorised reader, which Flink SQL uses: batches of 2,048 rows. */
    FLINK_VECTORIZED {
        @Override
        public long sum(Path file, List<String> columns) throws IOException {
            LogicalType[] types = new LogicalType[columns.size()];
            Arrays.setAll(types, i -> new IntType(false));
            RowType type = RowType.of(types, columns.toArray(String[]::new));
            BulkFormat<RowData, FileSourceSplit> format =
                    new ParquetColumnarRowInputFormat<>(
                            new org.apache.hadoop.conf.Configuration(),
                            type,
                            InternalTypeInfo.of(type),
                            2_048,
                            false,
                            true);
            long bytes = Files.size(file);
            FileSourceSplit split = new FileSourceSplit("0", flinkPath(file), 0, bytes, 0, bytes);
            long sum = 0;
            try (BulkFormat.Reader<RowData> reader =
                    format.createReader(new Configuration(), split)) {
                for (var batch = reader.readBatch(); batch != null; batch = reader.readBatch()) {
                    for (var row = batch.next(); row != null; row = batch.next()) {
                        for (int i = 0; i < types.length; i++) {
                            sum += row.getRecord().getInt(i);
                        }
                    }
                    batch.releaseBatch();
                }
            }
            return sum;
        }
    },
    /** The column API of parquet-java: a call for each value. */
    PARQUET_JAVA_COLUMNS {
        @Override
        public long sum(Path file, List<String> columns) throws IOException {
            long sum = 0;
            try (ParquetFileReader reader = open(file, columns)) {
                MessageType type = projection(reader, columns);
                String writer = reader.getFileMetaData().getCreatedBy();
                for (PageReadStore pages = reader.readNextRowGroup();
                        pages != null;
                        pages = reader.readNextRowGroup()) {
                    ColumnReadStoreImpl store =
                            new ColumnReadStoreImpl(
                                    pages,
                                    new GroupRecordConverter(type).getRootConverter(),
                                    type,
                                    writer);
                    for (var descriptor : type.getColumns()) {
                        ColumnReader column = store.getColumnReader(descriptor);
                        for (long row = 0; row < pages.getRowCount(); row++) {
                            if (column.getCurrentDefinitionLevel()
                                    == descriptor.getMaxDefinitionLevel()) {
                                sum += column.getInteger();
                            }
                            column.consume();
                        }
                    }
                }
            }
            return sum;
        }
    },
    /** Records of parquet-java: an object for each row. */
    PARQUET_JAVA_RECORDS {
        @Override
        public long sum(Path file, List<String> columns) throws IOException {
            long sum = 0;
            try (ParquetFileReader reader = open(file, columns)) {
                MessageType type = projection(reader, columns);
                for (PageReadStore pages = reader.readNextRowGroup();
                        pages != null;
                        pages = reader.readNextRowGroup()) {
                    RecordReader<Group> records =
                            new ColumnIOFactory()
                                    .getColumnIO(type)
                                    .getRecordReader(pages, new GroupRecordConverter(type));
                    for (long row = 0; row < pages.getRowCount(); row++) {
                        Group group = records.read();
                        for (int i = 0; i < columns.size(); i++) {
                            sum += group.getInteger(i, 0);
                        }
                    }
                }
            }
            return sum;
        }
    },
    /** DuckDB with one thread, which decodes and adds up in native code. */
    DUCKDB {
        @Override
        public long sum(Path file, List<String> columns) throws SQLException {
            String sums = "sum(" + String.join(") + sum(", columns) + ")";
            try (Connection db = DriverManager.getConnection("jdbc:duckdb:");
                    Statement sql = db.createStatement()) {
                sql.execute("SET threads = 1");
                try (ResultSet row =
                        sql.executeQuery(
                                "SELECT (%s)::BIGINT FROM read_parquet('%s')"
                                        .formatted(sums, file))) {
                    row.next();
                    return row.getLong(1);
                }
            }
        }
    };

    /**
     * Returns the sum of all values.
     *
     * @param columns of type INT32 and without nulls
     */
    public abstract long sum(Path file, List<String> columns) throws Exception;

    /** Name in reports. */
    public String label() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static org.apache.flink.core.fs.Path flinkPath(Path file) {
        return new org.apache.flink.core.fs.Path(file.toUri());
    }

    private static ParquetFileReader open(Path file, List<String> columns) throws IOException {
        ParquetFileReader reader = ParquetFileReader.open(new LocalInputFile(file));
        reader.setRequestedSchema(projection(reader, columns));
        return reader;
    }

    private static MessageType projection(ParquetFileReader reader, List<String> columns) {
        MessageType all = reader.getFileMetaData().getSchema();
        return new MessageType(all.getName(), columns.stream().map(all::getType).toList());
    }
}
