// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.sql.EventLog;
import io.github.gpujoin.benchmarks.temporal.ConversionEvents;
import io.github.gpujoin.benchmarks.temporal.ConversionQuery;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs event-time temporal joins in SQL, and compares planners. */
@Command(
        name = "temporal",
        description = {
            "Runs event-time temporal joins in SQL, in rounds that take turns.",
            "Of 11 events, 10 are orders and one changes the exchange rate of a currency.",
            "events_per_core_second: events over the processor time of the process, from the"
                    + " first event to the end of the result, without Java's compilers. The events"
                    + " are in memory before.",
            "events_per_second: the same over the time that passed."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class TemporalCommand implements Callable<Integer> {

    private static final long MAX_EVENTS = 50_000_000;
    private static final int MAX_CURRENCIES = 10_000_000;

    @Option(
            names = "--queries",
            split = ",",
            paramLabel = "QUERY",
            description = "Of ${COMPLETION-CANDIDATES}.")
    private List<ConversionQuery> queries = List.of(ConversionQuery.INNER);

    @Option(names = "--events", description = "Events; a million needs 60 MB outside the heap.")
    private long events = 1_100_000;

    @Option(names = "--currencies", description = "Keys of orders and rates, drawn at random.")
    private int currencies = 10_000;

    @Option(names = "--seed", description = "Seed of orders and rates.")
    private long seed = 1;

    @Mixin private SqlStreamOptions options = new SqlStreamOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        options.require(
                events >= 1 && events <= MAX_EVENTS,
                "--events is not within 1 and %d: %d".formatted(MAX_EVENTS, events));
        options.require(
                currencies >= 1 && currencies <= MAX_CURRENCIES,
                "--currencies is not within 1 and %d: %d".formatted(MAX_CURRENCIES, currencies));
        List<EventLog> logs =
                new ConversionEvents(events, currencies, seed).logs(options.threads());
        return options.measure("temporal", queries, query -> query.job(logs));
    }
}
