// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import java.nio.file.Files;
import java.nio.file.Path;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.TypeConversionException;

/** A file that is written when all is measured: one that cannot be is refused before. */
public final class OutputFile implements ITypeConverter<Path> {

    /** What holds for a file that can be written, as the end of a sentence about its option. */
    public static final String RULE = "is a file, in a directory that can be written to";

    @Override
    public Path convert(String value) {
        Path file = Path.of(value);
        if (!isWritable(file)) {
            throw new TypeConversionException("it " + RULE + ": found=" + value);
        }
        return file;
    }

    /** Whether such a file can be written, new or over one that is there. */
    public static boolean isWritable(Path file) {
        if (Files.exists(file)) {
            return !Files.isDirectory(file) && Files.isWritable(file);
        }
        Path directory = file.toAbsolutePath().getParent();
        return Files.isDirectory(directory) && Files.isWritable(directory);
    }
}
