// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.tpch.TpchChanges;
import io.github.gpujoin.benchmarks.tpch.TpchStreamQuery;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs TPC-H queries in SQL over changing tables, and compares planners. */
@Command(
        name = "tpch-stream",
        description = {
            "Runs TPC-H queries in SQL over changing tables, in rounds that take turns.",
            "An event is a change: a row inserted or deleted, or one of the two of an update."
                    + " First all rows are inserted, then some are updated and deleted.",
            "events_per_core_second: events over the processor time of the process, from the"
                    + " first event to the end of the result, without Java's compilers. The events"
                    + " are in memory before.",
            "events_per_second: the same over the time that passed."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class TpchStreamCommand implements Callable<Integer> {

    private static final int MAX_PERCENT = 100;
    private static final double MAX_SCALE_FACTOR = 10;

    @Option(
            names = "--queries",
            split = ",",
            paramLabel = "QUERY",
            description = "Of ${COMPLETION-CANDIDATES}.")
    private List<TpchStreamQuery> queries = List.of(TpchStreamQuery.values());

    @Option(
            names = "--scale-factor",
            paramLabel = "SF",
            description = "Scale factor; 0.1 needs 130 MB outside the heap.")
    private double scaleFactor = 0.1;

    @Option(
            names = "--updated-percent",
            description = "Suppliers, customers, orders and lines that are updated once.")
    private int updatedPercent = 10;

    @Option(names = "--deleted-percent", description = "Orders that are deleted with their lines.")
    private int deletedPercent = 5;

    @Option(names = "--seed", description = "Seed of updates and deletes.")
    private long seed = 1;

    @Mixin private SqlStreamOptions options = new SqlStreamOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        options.require(
                scaleFactor > 0 && scaleFactor <= MAX_SCALE_FACTOR,
                "--scale-factor is not above 0 and at most %.0f: %s"
                        .formatted(MAX_SCALE_FACTOR, scaleFactor));
        requirePercent("--updated-percent", updatedPercent);
        requirePercent("--deleted-percent", deletedPercent);
        TpchChanges changes = new TpchChanges(scaleFactor, updatedPercent, deletedPercent, seed);
        return options.measure(
                "tpch-stream", queries, query -> query.job(changes, options.threads()));
    }

    private void requirePercent(String option, int percent) {
        options.require(
                percent >= 0 && percent <= MAX_PERCENT,
                "%s is not within 0 and %d: %d".formatted(option, MAX_PERCENT, percent));
    }
}
