// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.hybrid.HybridBench;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.JsonReport;
import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.TextReport;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins with less memory than tables need, and compares with the CPU engine that has all of it. */
@Command(
        name = "hybrid",
        description = {
            "Probes build sides that fit a memory budget in part, by one thread.",
            "Rates are against the budget, and against the size of the build side with the budget"
                    + " of --build-rows.",
            "cpu-ROWS is the CPU engine with all the memory; hybrid-ROWS-PERCENT has so much of"
                    + " what the tables take while they are made. Rates are of probing, tables that"
                    + " are made for a while included."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class HybridCommand implements Callable<Integer> {

    private static final int MAX_BUILD_ROWS = 1 << 26;

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Build side whose need is 100 %%.")
    private int buildRows = 1 << 21;

    @Option(names = "--probe-rows", description = "Facts of each run.")
    private long probeRows = 1 << 24;

    @Option(names = "--budget-percent", split = ",", description = "Budgets.")
    private List<Integer> budgetPercent = List.of(10, 25, 50, 75, 100, 150, 300);

    @Option(
            names = "--sizes",
            split = ",",
            description = "Build sides, in percent of --build-rows.")
    private List<Integer> sizes = List.of(25, 50, 100, 200, 400);

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(3);

    @Option(
            names = "--budget-of",
            description = {
                "Whose the budget is: ${COMPLETION-CANDIDATES}. What does not fit the host's is spilled;"
                        + " what does not fit a device's is joined by the host."
            })
    private HybridBench.Budget budget = HybridBench.Budget.HOST;

    @Override
    public Integer call() throws Exception {
        check();
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        HybridBench bench = new HybridBench(probeRows, measurement.rounds(), budget, err::println);
        List<ContenderResult> results = new ArrayList<>(bench.byBudget(buildRows, budgetPercent));
        List<Integer> others = sizes.stream().filter(percent -> percent != 100).toList();
        results.addAll(
                bench.bySize(
                        buildRows,
                        others.stream()
                                .map(percent -> (int) ((long) buildRows * percent / 100))
                                .toList()));
        TextReport report = new TextReport(results);
        out.println(report.table());
        out.print(report.details());
        out.print(report.resultLines());
        out.flush();
        if (measurement.json() != null) {
            new JsonReport(
                            Machine.here(),
                            Map.of("java", System.getProperty("java.runtime.version")),
                            Bench.typed(spec),
                            results)
                    .write(measurement.json());
        }
        err.print(report.disagreements());
        err.flush();
        return report.disagreements().isEmpty() ? 0 : 1;
    }

    private void check() {
        require(
                buildRows >= 1 && probeRows >= 1,
                "A number is not positive: --build-rows="
                        + buildRows
                        + ", --probe-rows="
                        + probeRows);
        for (int percent : budgetPercent) {
            require(percent >= 1, "a budget is positive: --budget-percent=" + percent);
        }
        for (int percent : sizes) {
            long rows = (long) buildRows * percent / 100;
            require(
                    rows >= 1 && rows <= MAX_BUILD_ROWS,
                    "A build side does not have 1 to "
                            + MAX_BUILD_ROWS
                            + " rows: --sizes="
                            + percent);
        }
    }

    private void require(boolean holds, String message) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), message);
        }
    }
}
