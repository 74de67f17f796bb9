// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import io.github.gpujoin.etl.data.Shop;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command line that runs the ETL with all that it needs, and checks every row of its results. */
@Command(
        name = "etl-demo",
        mixinStandardHelpOptions = true,
        showDefaultValues = true,
        description = {
            "Starts a broker of Kafka and a Flink cluster, writes orders and changes of customers"
                    + " and products, joins them in one job, and writes a topic and an Iceberg"
                    + " table, exactly once. A page shows rates, lag, placement and skew.",
            "After the given time every row of both results is checked. Exit status 1 if one is"
                    + " lost, duplicated or wrong. Ctrl-C ends all processes."
        })
public final class EtlDemo implements Callable<Integer> {

    @Spec private CommandSpec spec;

    @Option(names = "--minutes", description = "For which orders are written.")
    private double minutes = 2;

    @Option(names = "--rate", description = "Orders a second.")
    private int rate = 2_000;

    @Option(names = "--updates", description = "Changes a second of each dimension.")
    private int updates = 100;

    @Option(names = "--seed", description = "Of all orders and changes.")
    private long seed = 1;

    @Option(names = "--customers", description = "Number of customers.")
    private int customers = 10_000;

    @Option(names = "--products", description = "Number of products.")
    private int products = 1_000;

    @Option(names = "--kill-taskmanager", description = "Kills a TaskManager after a third.")
    private boolean killsTaskManager;

    @Option(names = "--kill-broker", description = "Kills the broker after two thirds.")
    private boolean killsBroker;

    @Option(names = "--state-dir", description = "Folder of data and logs, which is emptied first.")
    private @Nullable Path stateDir;

    @Option(names = "--page-port", description = "Of the page; 0 for a free one.")
    private int pagePort = 8090;

    @Option(names = "--root", hidden = true, description = "Folder of the built project.")
    private Path root = Path.of("");

    /** Exits with 0 if every row was right, 1 if not or after a failure, 2 for wrong arguments. */
    public static void main(String[] arguments) {
        CommandLine line = new CommandLine(new EtlDemo());
        line.setExecutionExceptionHandler(
                (error, failed, result) -> {
                    failed.getErr().println("etl-demo: " + error);
                    failed.getErr().flush();
                    return 1;
                });
        System.exit(line.execute(arguments));
    }

    @Override
    public Integer call() throws Exception {
        if (minutes <= 0 || rate < 1 || updates < 1 || customers < 1 || products < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "Numbers are not positive: minutes=%s, rate=%d, updates=%d, customers=%d, products=%d."
                            .formatted(minutes, rate, updates, customers, products));
        }
        Path project = root.toAbsolutePath().normalize();
        Path folder =
                (stateDir == null ? project.resolve("etl-demo/target/run") : stateDir)
                        .toAbsolutePath()
                        .normalize();
        DemoRun.Load load =
                new DemoRun.Load(
                        new Shop(seed, customers, products),
                        rate,
                        updates,
                        (long) (minutes * TimeUnit.MINUTES.toNanos(1)));
        DemoRun run = new DemoRun(project, folder, spec.commandLine().getOut());
        return run.run(load, killsTaskManager, killsBroker, pagePort) ? 0 : 1;
    }
}
