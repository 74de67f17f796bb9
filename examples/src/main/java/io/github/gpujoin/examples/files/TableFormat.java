// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.flink.api.source.ColumnarFormat;
import io.github.gpujoin.formats.arrow.ArrowFormat;
import io.github.gpujoin.formats.avro.AvroFormat;
import io.github.gpujoin.formats.parquet.ParquetFormat;

/** Formats of the files of a benchmark's tables. */
public enum TableFormat {
    CSV,
    AVRO,
    PARQUET,
    ARROW;

    /**
     * Creates the writer of this format. Lazy, so that the other formats work without the classes
     * that this one needs.
     *
     * @throws io.github.gpujoin.examples.run.Cli.UserError if required classes are missing from the
     *     class path
     */
    TableFileFormat files() {
        // A method reference would link the class before load can catch what it lacks.
        return this == ARROW
                ? FileFormat.load(name(), () -> new ArrowTableFormat())
                : FileFormat.valueOf(name()).records();
    }

    /** Returns the format that reads columns of a table as chunks. */
    ColumnarFormat columnar(TblTable table, ChunkSchema schema) {
        return switch (this) {
            case CSV -> table.csvFormat(schema);
            case AVRO -> AvroFormat.of(schema);
            case PARQUET -> ParquetFormat.of(schema);
            case ARROW -> ArrowFormat.of(schema);
        };
    }
}
