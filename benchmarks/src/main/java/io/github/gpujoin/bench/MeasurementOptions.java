// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.benchmarks.join.TextReport;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.List;
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

    /**
     * Prints details and disagreements of results, and writes the file of figures if it is asked
     * for.
     *
     * @return exit status: 0 if all contenders agree, else 1
     */
    int report(
            List<ContenderResult> results,
            Observations observations,
            PrintWriter out,
            PrintWriter err)
            throws IOException {
        TextReport text = new TextReport(results);
        out.print(text.details());
        out.flush();
        if (json != null) {
            observations.write(json);
        }
        err.print(text.disagreements());
        err.flush();
        return text.disagreements().isEmpty() ? 0 : 1;
    }
}
