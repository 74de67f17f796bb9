// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.OutputFile;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command-line options of measurements that are repeated. */
final class MeasurementOptions {

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    private int rounds;

    /**
     * @param rounds unless the option sets them
     */
    MeasurementOptions(int rounds) {
        this.rounds = rounds;
    }

    @Option(names = "--rounds", description = "Rounds of each contender that count.")
    private void setRounds(int rounds) {
        if (rounds < 1) {
            throw new ParameterException(
                    spec.commandLine(), "--rounds must be at least 1: " + rounds);
        }
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
