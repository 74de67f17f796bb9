// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.jmh.StepBenchmarks;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Measures single steps against a memory copy. */
@Command(
        name = "jmh",
        description = "Measures packer, chunks and engine against a memory copy of the same bytes.",
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class JmhCommand implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Parameters(
            arity = "0..1",
            defaultValue = ".*",
            description = "Regular expression of benchmark names.")
    private String pattern;

    @Option(names = "--seconds", description = "Length of an iteration.")
    private int seconds = 2;

    @Override
    public Integer call() throws Exception {
        String table = StepBenchmarks.table(StepBenchmarks.run(pattern, seconds));
        spec.commandLine().getOut().println(table);
        return 0;
    }
}
