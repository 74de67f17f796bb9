// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.jmh;

import io.github.gpujoin.benchmarks.workload.TupleSchemas;
import java.util.Collection;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.results.RunResult;
import org.openjdk.jmh.runner.Runner;
import org.openjdk.jmh.runner.RunnerException;
import org.openjdk.jmh.runner.options.Options;
import org.openjdk.jmh.runner.options.OptionsBuilder;
import org.openjdk.jmh.runner.options.TimeValue;

/** Runs the microbenchmarks of this package and compares each with the memory copy. */
public final class StepBenchmarks {

    private static final String PACKAGE = StepBenchmarks.class.getPackageName() + ".";
    private static final String ROW = "%-24s %10s %12s %16s%n";

    private StepBenchmarks() {}

    /** Runs those whose name matches the pattern, and the memory copy. */
    public static Collection<RunResult> run(String pattern, int seconds) throws RunnerException {
        Options options =
                new OptionsBuilder()
                        .include(PACKAGE + ".*(" + pattern + ")")
                        .include(MemoryCopyBenchmark.class.getName())
                        .mode(Mode.Throughput)
                        .timeUnit(TimeUnit.SECONDS)
                        .forks(1)
                        .warmupIterations(3)
                        .warmupTime(TimeValue.seconds(seconds))
                        .measurementIterations(5)
                        .measurementTime(TimeValue.seconds(seconds))
                        .shouldFailOnError(true)
                        .build();
        return new Runner(options).run();
    }

    /** Rates in tuples and bytes, and the share of the copy's rate. One thread each. */
    public static String table(Collection<RunResult> results) {
        double copy =
                results.stream()
                        .filter(result -> name(result).equals("memoryCopy"))
                        .mapToDouble(StepBenchmarks::bytesPerSecond)
                        .findFirst()
                        .orElseThrow();
        StringBuilder table = new StringBuilder();
        table.append(String.format(ROW, "step", "GB/s", "M tuples/s", "share of copy"));
        for (RunResult result : results) {
            double rate = bytesPerSecond(result);
            table.append(
                    String.format(
                            Locale.ROOT,
                            ROW,
                            name(result),
                            String.format(Locale.ROOT, "%.2f", rate / 1e9),
                            String.format(
                                    Locale.ROOT, "%.1f", rate / TupleSchemas.TUPLE_BYTES / 1e6),
                            String.format(Locale.ROOT, "%.2f", rate / copy)));
        }
        return table.toString();
    }

    private static String name(RunResult result) {
        String label = result.getParams().getBenchmark();
        return label.substring(label.lastIndexOf('.') + 1);
    }

    private static double bytesPerSecond(RunResult result) {
        return result.getPrimaryResult().getScore() * WorkingSet.BYTES;
    }
}
