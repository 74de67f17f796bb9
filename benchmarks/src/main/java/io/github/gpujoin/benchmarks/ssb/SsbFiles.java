// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.ssb;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.examples.files.TableFiles;
import io.github.gpujoin.examples.files.TableFormat;
import io.github.gpujoin.examples.run.RowCounter;
import io.github.gpujoin.examples.tbl.TblTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The tables of the star schema benchmark as files of one format in a directory, one file a table.
 *
 * @param format null for {@code .tbl}
 */
public record SsbFiles(Path directory, @Nullable TableFormat format) {

    private static final String TBL = "tbl";

    /**
     * Returns the files of a format.
     *
     * @param formatName one of {@link #formatNames()}
     */
    public static SsbFiles of(Path directory, String formatName) {
        return new SsbFiles(
                directory,
                formatName.equals(TBL)
                        ? null
                        : TableFormat.valueOf(formatName.toUpperCase(Locale.ROOT)));
    }

    /** Returns the {@code .tbl} files that the files were converted from. */
    SsbFiles converted() {
        return new SsbFiles(directory, null);
    }

    /** Returns the names of all formats, in lower case. */
    public static List<String> formatNames() {
        return Stream.concat(
                        Stream.of(TBL),
                        Stream.of(TableFormat.values()).map(f -> f.name().toLowerCase(Locale.ROOT)))
                .toList();
    }

    /** Returns the name of the format, which is also the extension of the files. */
    public String formatName() {
        return format == null ? TBL : format.name().toLowerCase(Locale.ROOT);
    }

    /** Returns the absolute path of a table's file, which may not exist. */
    public Path file(TblTable table) {
        return directory.resolve(table.name() + "." + formatName()).toAbsolutePath();
    }

    /** Returns the tables whose file is missing. */
    public List<TblTable> missing() {
        return SsbTables.ALL.stream().filter(table -> !Files.isRegularFile(file(table))).toList();
    }

    /** Returns an estimate of the rows of a table, exact for Parquet. Its file must exist. */
    public long estimateRows(TblTable table) {
        return format == null
                ? RowCounter.estimate(file(table))
                : new TableFiles(directory, format).estimateRows(table);
    }

    /**
     * Creates the missing files. Files of other formats than {@code .tbl} are converted row by row
     * from the {@code .tbl} files of the directory, which are generated if they are missing too.
     *
     * @param scaleFactor above 0
     * @param progress receives the name of each new file
     */
    public void make(double scaleFactor, Consumer<String> progress) throws IOException {
        List<TblTable> missing = missing();
        if (missing.isEmpty()) {
            return;
        }
        DataFiles.makeMissing(
                Benchmark.SSB,
                directory,
                scaleFactor,
                table -> progress.accept("created " + table.fileName()));
        if (format == null) {
            return;
        }
        TableFiles files = new TableFiles(directory, format);
        for (TblTable table : missing) {
            files.make(table);
            progress.accept("created " + files.file(table).getFileName());
        }
    }
}
