// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.examples.data.WholeFile;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.source.ColumnarPosition;
import io.github.gpujoin.flink.api.source.ColumnarReader;
import io.github.gpujoin.flink.api.source.ColumnarSource;
import io.github.gpujoin.flink.api.source.ColumnarSplit;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.apache.flink.api.common.serialization.BulkWriter;
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
    private final TableFormat format;
    private final TableFileFormat files;

    /**
     * @param directory of the files and of the {@code .tbl} files
     * @throws io.github.gpujoin.examples.run.Cli.UserError if classes that the format needs are
     *     missing
     */
    public TableFiles(Path directory, TableFormat format) {
        this.directory = directory;
        this.format = format;
        this.files = format.files();
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
        return files.estimateRows(file(table));
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
                BulkWriter<RowData> writer = files.writer(columns, out);
                copy(table, tbl, writer);
                writer.finish();
            }
            whole.commit();
        }
    }

    private static void copy(TblTable table, Path tbl, BulkWriter<RowData> to) throws IOException {
        long bytes = Files.size(tbl);
        ColumnarSplit all = new ColumnarSplit(flinkPath(tbl), 0, bytes, bytes);
        ChunkRows rows = new ChunkRows(table);
        try (ColumnarReader reader =
                table.format(table.projectAll()).open(all, ColumnarPosition.START)) {
            for (Chunk chunk = reader.read(); chunk != null; chunk = reader.read()) {
                for (int row = 0; row < chunk.rowCount(); row++) {
                    to.addElement(rows.row(chunk, row));
                }
            }
        }
    }

    private static org.apache.flink.core.fs.Path flinkPath(Path path) {
        return new org.apache.flink.core.fs.Path(path.toUri());
    }

    /** Whether readers of the format skip rows that fail the conditions of a join. */
    public boolean appliesConditions() {
        return format == TableFormat.PARQUET;
    }

    /**
     * Returns columns of a table's file as a columnar source.
     *
     * @param schema a projection of the table
     */
    public ColumnarSource source(TblTable table, ChunkSchema schema) {
        return ColumnarSource.of(format.columnar(table, schema), flinkPath(file(table)));
    }

    /**
     * Reads columns of a table's file, which must exist, as a bounded stream of chunks. A malformed
     * line fails the job.
     *
     * @param schema a projection of the table
     * @param uid uid of the source
     */
    public DataStream<Chunk> read(
            StreamExecutionEnvironment env,
            TblTable table,
            ChunkSchema schema,
            int parallelism,
            String uid) {
        return source(table, schema)
                .toStream(env, uid)
                .name(table.name())
                .setParallelism(parallelism);
    }
}
