// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.csv.CsvFormat.BadLines;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.connector.file.sink.FileSink;
import org.apache.flink.connector.file.src.FileSource;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;
import org.jspecify.annotations.Nullable;

/** Reads and writes files of one format as Flink's internal rows. Stateless. */
interface RecordFormat extends TableFileFormat {

    /**
     * Returns the columns of a file, in file order.
     *
     * @param schema file of the Avro reader schema, or null for the schema in the file
     * @throws io.github.gpujoin.examples.run.Cli.UserError if the file is malformed or a column
     *     type is unsupported
     */
    RowType columns(Path file, @Nullable Path schema);

    /**
     * Creates a source of the rows of a file.
     *
     * @param badLines how to treat a malformed line; used by CSV only
     */
    FileSource<RowData> source(RecordFile file, BadLines badLines);

    /**
     * Creates a sink of part files, which stay hidden until they are complete.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError if the format cannot store a column
     */
    FileSink<RowData> sink(Path directory, RowType columns);

    /**
     * Concatenates the part files of a sink into one file.
     *
     * @param out file to write; exists and is empty
     */
    void concatenate(List<Path> parts, RowType columns, Path out) throws IOException;
}
