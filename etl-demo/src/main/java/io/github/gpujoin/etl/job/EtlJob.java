// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.job;

import java.util.concurrent.Callable;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The job alone, for a cluster and brokers that exist: {@code bin/cluster run etl-job.jar}. */
@Command(
        name = "etl-job",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Joins the topic orders with the changelogs customers and products, and writes the"
                    + " topic enriched-orders and an Iceberg table, exactly once.",
            "Set execution.checkpointing.interval: results appear at each checkpoint."
        })
public final class EtlJob implements Callable<Integer> {

    @Option(names = "--brokers", required = true, description = "Of Kafka, as host:port,...")
    private String brokers = "";

    @Option(
            names = "--complete-at",
            description =
                    "Facts wait until both dimensions have passed this event time in ms since 1970:"
                            + " the time at which their first rows were complete.")
    private long completeAtMs = Long.MIN_VALUE;

    @Option(names = "--warehouse", description = "URI of the table's folder; no table without it.")
    private @Nullable String warehouse;

    /** Submits the job; Flink's client decides where it runs. */
    public static void main(String[] arguments) {
        int status = new CommandLine(new EtlJob()).execute(arguments);
        if (status != 0) {
            // Flink's client treats only an exception as a failure.
            throw new IllegalStateException("The job failed: status=" + status);
        }
    }

    @Override
    public Integer call() throws Exception {
        StreamExecutionEnvironment env = StreamExecutionEnvironment.getExecutionEnvironment();
        new EtlPipeline(brokers, completeAtMs, warehouse).define(env);
        env.execute("etl");
        return 0;
    }
}
