// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import io.github.gpujoin.examples.data.WholeFile;
import io.github.gpujoin.examples.tbl.TblFormat;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.examples.tbl.TblType;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.formats.parquet.ParquetFormat;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.connector.file.src.FileSourceSplit;
import org.apache.flink.connector.file.src.reader.BulkFormat;
import org.apache.flink.core.fs.local.LocalDataOutputStream;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/**
 * The tables of a benchmark as files of one format, one file each, for example {@code
 * lineorder.parquet}. They are converted from the {@code .tbl} files of the same directory.
 */
public final class TableFiles {

    private final Path directory;
    private final FileFormat format;
    private final RecordFormat records;

    /**
     * @param directory of the files and of the {@code .tbl} files
     * @throws io.github.gpujoin.examples.run.Cli.UserError if classes that the format needs are
     *     missing
     */
    public TableFiles(Path directory, FileFormat format) {
        this.directory = directory;
        this.format = format;
        this.records = format.records();
    }

    /** Returns the path of the file of a table, which may not exist. */
    public Path file(TblTable table) {
        return directory.resolve(table.name() + "." + format.name().toLowerCase(Locale.ROOT));
    }

    /** Returns the tables whose file is missing. */
    public List<TblTable> missing(List<TblTable> tables) {
        return tables.stream().filter(table -> !Files.isRegularFile(file(table))).toList();
    }

    /** Returns an estimate of the number of rows in the file of a table, which must exist. */
    public long estimateRows(TblTable table) {
        return records.estimateRows(file(table));
    }

    /**
     * Converts the {@code .tbl} file of a table. The new file appears only when complete.
     *
     * @throws IOException if a file cannot be read or written
     */
    public void make(TblTable table) throws IOException {
        RowType columns = TableColumns.rowType(table);
        Path tbl = directory.resolve(table.fileName());
        try (WholeFile whole = WholeFile.create(file(table))) {
            try (LocalDataOutputStream out = new LocalDataOutputStream(whole.draft().toFile())) {
                BulkWriter<RowData> writer = records.writer(columns, out);
                copy(table, tbl, writer);
                writer.finish();
            }
            whole.commit();
        }
    }

    private static void copy(TblTable table, Path tbl, BulkWriter<RowData> to) throws IOException {
        long bytes = Files.size(tbl);
        FileSourceSplit all =
                new FileSourceSplit(
                        "all", new org.apache.flink.core.fs.Path(tbl.toUri()), 0, bytes, 0, bytes);
        ChunkRows rows = new ChunkRows(table);
        try (BulkFormat.Reader<Chunk> reader =
                new TblFormat(table, table.projectAll()).createReader(new Configuration(), all)) {
            BulkFormat.RecordIterator<Chunk> batch;
            while ((batch = reader.readBatch()) != null) {
                Chunk chunk = batch.next().getRecord();
                for (int row = 0; row < chunk.rowCount(); row++) {
                    to.addElement(rows.row(chunk, row));
                }
                batch.releaseBatch();
            }
        }
    }

    /** Whether a column is a date, which tables count in another way than files do. */
    private static boolean hasDates(TblTable table, ChunkSchema schema) {
        return table.columns().stream()
                .anyMatch(
                        column ->
                                column.type() == TblType.DATE
                                        && schema.indexOf(column.name()) >= 0);
    }

    /**
     * Returns columns of a table's file as a columnar source, if the format has one.
     *
     * @param schema a projection of the table
     */
    public Optional<ColumnarSource> source(TblTable table, ChunkSchema schema) {
        if (format != FileFormat.PARQUET || hasDates(table, schema)) {
            return Optional.empty();
        }
        return Optional.of(
                ColumnarSource.of(
                        ParquetFormat.of(schema),
                        new org.apache.flink.core.fs.Path(file(table).toUri())));
    }

    /**
     * Reads columns of a table's file, which must exist, as a bounded stream of chunks. A malformed
     * line fails the job.
     *
     * @param schema a projection of the table
     * @param uid uid of the source, and prefix of the uid of its converter
     */
    public DataStream<Chunk> read(
            StreamExecutionEnvironment env,
            TblTable table,
            ChunkSchema schema,
            int parallelism,
            String uid) {
        Path path = file(table);
        Optional<ColumnarSource> source = source(table, schema);
        if (source.isPresent()) {
            return source.get().toStream(env, uid).name(table.name()).setParallelism(parallelism);
        }
        RowType columns =
                records.projected(
                        records.columns(path, null),
                        schema.columns().stream().map(column -> column.name()).toList());
        RecordFile file = new RecordFile(path, format, columns, 0, null);
        return env.fromSource(
                        records.source(file, BadLines.FAIL),
                        WatermarkStrategy.noWatermarks(),
                        table.name())
                .uid(uid)
                .setParallelism(parallelism)
                .transform(
                        "chunks of " + table.name(),
                        ChunkTypeInfo.of(schema),
                        new RowsToChunks(table, schema, columns))
                .uid(uid + "-chunks")
                .setParallelism(parallelism);
    }
}
