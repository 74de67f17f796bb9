// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** How files of one format are read and written as Flink's internal rows. Stateless. */
interface RecordFormat {

    /**
     * Columns of a file, in its order.
     *
     * @param schema file of the schema with which the file is read; null for its own
     * @throws io.github.gpujoin.examples.run.Cli.UserError where the file is not of the format, or
     *     has columns that rows of a join cannot have
     */
    RowType columns(Path file, Path schema);

    /** Rows of a file, near enough. */
    long estimateRows(Path file);

    /**
     * A source of a file's rows.
     *
     * @param badLines what becomes of a line that cannot be read, in formats that have lines
     */
    FileSource<RowData> source(RecordFile file, BadLines badLines);

    /**
     * A sink of part files, which are hidden until they are whole.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError where the format cannot hold a column
     */
    FileSink<RowData> sink(Path directory, RowType columns);

    /**
     * Writes rows to one file, a whole one; the stream stays open.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError where the format cannot hold a column
     */
    BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException;

    /** Those columns of a file, of which some are wanted, that are cheapest to read. */
    default RowType projected(RowType columns, List<String> wanted) {
        return columns;
    }

    /**
     * Puts the part files of a sink together to one file.
     *
     * @param out to be written; it is there, and empty
     */
    void concatenate(List<Path> parts, RowType columns, Path out) throws IOException;
}
