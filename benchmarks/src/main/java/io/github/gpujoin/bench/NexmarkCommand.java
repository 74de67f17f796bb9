// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.nexmark.NexmarkEvents;
import io.github.gpujoin.benchmarks.nexmark.NexmarkQuery;
import io.github.gpujoin.benchmarks.sql.EventLog;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;

/** Runs the Nexmark queries with joins in SQL, and compares planners. */
@Command(
        name = "nexmark",
        description = {
            "Runs the Nexmark queries with joins in SQL, in rounds that take turns.",
            "events_per_core_second: events over the processor time of the process, from the"
                    + " first event to the end of the result, without Java's compilers. The events"
                    + " are in memory before.",
            "events_per_second: the same over the time that passed."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class NexmarkCommand implements Callable<Integer> {

    private static final long MAX_EVENTS = 20_000_000;

    @Option(
            names = "--queries",
            split = ",",
            paramLabel = "QUERY",
            description = "Of ${COMPLETION-CANDIDATES}; q0 is source and sink alone.")
    private List<NexmarkQuery> queries =
            List.of(
                    NexmarkQuery.Q3,
                    NexmarkQuery.Q4,
                    NexmarkQuery.Q8,
                    NexmarkQuery.Q9,
                    NexmarkQuery.Q13,
                    NexmarkQuery.Q20,
                    NexmarkQuery.Q23);

    @Option(names = "--events", description = "Events; a million needs 280 MB outside the heap.")
    private long events = 1_000_000;

    @Mixin private SqlStreamOptions options = new SqlStreamOptions();

    @Override
    public Integer call() throws Exception {
        options.check();
        options.require(
                events >= 1 && events <= MAX_EVENTS,
                "--events is not within 1 and %d: %d".formatted(MAX_EVENTS, events));
        List<EventLog> logs = NexmarkEvents.logs(events, options.threads());
        return options.measure("nexmark", queries, query -> query.job(logs));
    }
}
