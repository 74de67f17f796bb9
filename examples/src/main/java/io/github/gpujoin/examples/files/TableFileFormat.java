// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.apache.flink.api.common.serialization.BulkWriter;
import org.apache.flink.core.fs.FSDataOutputStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.types.logical.RowType;

/** Writes files of one format from Flink's internal rows. Stateless. */
interface TableFileFormat {

    /** Returns an estimate of the rows of a file. */
    long estimateRows(Path file);

    /**
     * Creates a writer of one complete file. The writer does not close the stream.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError if the format cannot store a column
     */
    BulkWriter<RowData> writer(RowType columns, FSDataOutputStream out) throws IOException;

    /** Returns an estimate of the rows in a file whose rows have an assumed size. */
    static long guessRows(Path file, int rowBytes) {
        try {
            return Files.size(file) / rowBytes;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
