// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import io.github.gpujoin.examples.tbl.TblTable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Consumer;

/** The {@code .tbl} files of a benchmark in a directory: which are missing, and making them. */
public final class DataFiles {

    private DataFiles() {}

    /** Tables of the benchmark that have no file in the directory. */
    public static List<TblTable> missing(Benchmark benchmark, Path directory) {
        return benchmark.tables().stream()
                .filter(table -> !Files.isRegularFile(directory.resolve(table.fileName())))
                .toList();
    }

    /**
     * Makes the files that are missing. A file appears under its name when it is whole.
     *
     * @param scaleFactor above 0
     * @param progress is told of each table when its file is whole
     */
    public static void makeMissing(
            Benchmark benchmark, Path directory, double scaleFactor, Consumer<TblTable> progress)
            throws IOException {
        if (!(scaleFactor > 0) || scaleFactor > 100_000) {
            throw new IllegalArgumentException(
                    "Scale factor out of range: scaleFactor="
                            + scaleFactor
                            + ". Use a number above 0 and at most 100000.");
        }
        Files.createDirectories(directory);
        TableGenerator generator = benchmark.generator(scaleFactor);
        for (TblTable table : missing(benchmark, directory)) {
            write(generator, table, directory.resolve(table.fileName()));
            progress.accept(table);
        }
    }

    private static void write(TableGenerator generator, TblTable table, Path file)
            throws IOException {
        try (WholeFile whole = WholeFile.create(file)) {
            try (TblWriter out = new TblWriter(whole.open())) {
                generator.write(table, out);
            }
            whole.commit();
        }
    }
}
