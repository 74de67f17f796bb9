// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import io.github.gpujoin.examples.run.Cli.UserError;
import java.nio.file.Path;
import java.util.Locale;
import java.util.function.Supplier;

/**
 * File formats of rows. The extension of a file selects its format: the name of the constant in any
 * case.
 */
public enum FileFormat {
    CSV("build."),
    AVRO("build_"),
    PARQUET("build_");

    private final String buildPrefix;

    FileFormat(String buildPrefix) {
        this.buildPrefix = buildPrefix;
    }

    /**
     * Returns the format of a file by its extension.
     *
     * @throws UserError if the extension names no format
     */
    public static FileFormat of(Path file) {
        String name = file.getFileName().toString().toLowerCase(Locale.ROOT);
        for (FileFormat format : values()) {
            if (name.endsWith("." + format.name().toLowerCase(Locale.ROOT))) {
                return format;
            }
        }
        throw new UserError(
                "Unknown file extension. Use .csv, .avro or .parquet, or set --format: file="
                        + file);
    }

    /**
     * Creates the reader and writer of this format. Lazy, so that the other formats work without
     * the classes that this one needs.
     *
     * @throws UserError if required classes are missing from the class path
     */
    RecordFormat records() {
        return load(
                name(),
                () ->
                        switch (this) {
                            case CSV -> new CsvRecordFormat();
                            case AVRO -> new AvroRecordFormat();
                            case PARQUET -> new ParquetRecordFormat();
                        });
    }

    /**
     * Creates the reader or writer of a format.
     *
     * @param format its name, in capitals
     * @throws UserError if required classes are missing from the class path
     */
    static <T> T load(String format, Supplier<T> files) {
        try {
            return files.get();
        } catch (LinkageError e) {
            // The job jar contains none of them; the cluster provides them.
            throw new UserError(
                    "Flink's table runtime or format jars are missing on the cluster. Add them to"
                            + " its lib directory: format="
                            + format.toLowerCase(Locale.ROOT)
                            + ", missing="
                            + e.getMessage());
        }
    }

    /** Returns the prefix of a build column whose name a probe column already uses. */
    String buildPrefix() {
        return buildPrefix;
    }
}
