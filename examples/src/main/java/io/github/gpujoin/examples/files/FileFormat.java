// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.run.Cli.UserError;
import java.nio.file.Path;
import java.util.Locale;

/** Formats of files of rows, told apart by the ends of their names. */
public enum FileFormat {
    CSV("build."),
    AVRO("build_"),
    PARQUET("build_");

    private final String buildPrefix;

    FileFormat(String buildPrefix) {
        this.buildPrefix = buildPrefix;
    }

    /** By the end of the file's name, CSV where it says nothing else. */
    public static FileFormat of(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        for (FileFormat format : values()) {
            if (name.endsWith("." + format.name().toLowerCase(Locale.ROOT))) {
                return format;
            }
        }
        return CSV;
    }

    /**
     * Made when asked for: the classes of Flink's tables need not be there for other files.
     *
     * @throws UserError where they are not there and this format needs them
     */
    RecordFormat records() {
        try {
            return switch (this) {
                case CSV -> new CsvRecordFormat();
                case AVRO -> new AvroRecordFormat();
                case PARQUET -> new ParquetRecordFormat();
            };
        } catch (LinkageError e) {
            // A job jar brings none of them: it is for the cluster to have them.
            throw new UserError(
                    "files of this format need Flink's table runtime and format jars on the"
                            + " cluster: format="
                            + name().toLowerCase(Locale.ROOT)
                            + ", missing="
                            + e.getMessage());
        }
    }

    /** Goes before the name of a build column that a probe column has too. */
    String buildPrefix() {
        return buildPrefix;
    }
}
