// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.OutputFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ITypeConverter;
import picocli.CommandLine.Option;
import picocli.CommandLine.TypeConversionException;

/** Command-line options of measurements that are repeated. */
final class MeasurementOptions {

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    @Option(
            names = "--rounds",
            converter = AtLeastOne.class,
            description = "Rounds of each contender that count.")
    private int rounds;

    /** Reads a positive number. */
    private static final class AtLeastOne implements ITypeConverter<Integer> {

        @Override
        public Integer convert(String value) {
            if (!value.matches("0*[1-9][0-9]{0,8}")) {
                throw new TypeConversionException(
                        "'%s' is not a number of at least 1".formatted(value));
            }
            return Integer.valueOf(value);
        }
    }

    /**
     * @param rounds unless the option sets them
     */
    MeasurementOptions(int rounds) {
        this.rounds = rounds;
    }

    /** Returns the number of rounds, which is positive. */
    int rounds() {
        return rounds;
    }

    /** Returns the file for all figures, or null. */
    @Nullable Path json() {
        return json;
    }
}
