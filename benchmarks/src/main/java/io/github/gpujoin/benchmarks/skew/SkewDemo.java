// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.examples.run.Cli;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins a star over growing skew in every way of giving out work, and reports who was busy. */
@Command(
        name = "bin/skew-demo",
        description = {
            "Joins orders with customers, products and days while more and more orders fall on few"
                    + " customers, in every way of giving work to workers.",
            "Writes an HTML report that opens without a network."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
public final class SkewDemo implements Callable<Integer> {

    private static final String LOG_SETTINGS = "log4j2.configurationFile";
    private static final double MAX_ZIPF = 2;
    private static final double STEP = 0.25;
    private static final long SEED = 42;

    /** The compiler is done with the engine's loops by then. */
    private static final int WARM_UP_ROUNDS = 10;

    @Spec private CommandSpec spec;

    @Option(
            names = "--zipf",
            paramLabel = "FROM..TO",
            description = "Exponents of the customers' popularity, 0 (uniform) to 2; or one.")
    private String zipf = "0..2";

    @Option(names = "--engine", description = "${COMPLETION-CANDIDATES}; auto: GPU if there is one")
    private SkewEngines engine = SkewEngines.AUTO;

    @Option(names = "--rows", description = "Orders for each exponent.")
    private long rows = 4 << 20;

    @Option(names = "--customers", description = "Rows of the largest dimension, a power of two.")
    private int customers = 1 << 20;

    @Option(names = "--threads", description = "Workers of the CPU; 0: one a core.")
    private int threads;

    @Option(names = "--rounds", description = "Laps of which the median counts.")
    private int rounds = 5;

    @Option(names = "--out", paramLabel = "FILE.html", description = "The report.")
    private Path out = Path.of("skew-report.html");

    /** Exits with 0 if all went well, 1 if a run failed, 2 if the arguments are wrong. */
    public static void main(String[] args) {
        if (System.getProperty(LOG_SETTINGS) == null) {
            System.setProperty(LOG_SETTINGS, "bench-log4j2.properties");
        }
        System.exit(commandLine().execute(args));
    }

    static CommandLine commandLine() {
        return Cli.commandLine(new SkewDemo());
    }

    @Override
    public Integer call() throws Exception {
        List<Double> exponents = exponents();
        check();
        try {
            run(exponents);
        } catch (GpuUnavailableException e) {
            spec.commandLine().getErr().println(e.getMessage());
            return 1;
        }
        return 0;
    }

    private void run(List<Double> exponents) throws Exception {
        PrintWriter text = spec.commandLine().getOut();
        OrdersStar star = new OrdersStar(customers);
        int workers = threads == 0 ? Runtime.getRuntime().availableProcessors() : threads;
        try (SkewEngine joins = engine.open(star, workers, text)) {
            List<List<SkewRun>> runs = new ArrayList<>();
            text.printf("%s; million facts a second%n%9s", joins.name(), "zipf");
            joins.modes().forEach(mode -> text.printf("%12s", mode.name()));
            text.println();
            SkewRun.measure(joins, star.facts(rows, exponents.get(0), SEED), WARM_UP_ROUNDS);
            for (double exponent : exponents) {
                runs.add(measure(joins, star.facts(rows, exponent, SEED), text));
            }
            Machine machine = Machine.here();
            new SkewReport(joins, machine.cpu() + ", " + machine.cores() + " cores", runs)
                    .write(out);
        }
        text.println("report: " + out.toAbsolutePath().normalize());
        text.flush();
    }

    private List<SkewRun> measure(SkewEngine joins, SkewedFacts facts, PrintWriter text)
            throws Exception {
        List<SkewRun> runs = SkewRun.measure(joins, facts, rounds);
        text.printf(Locale.ROOT, "%9.2f", facts.zipf());
        runs.forEach(run -> text.printf(Locale.ROOT, "%12.1f", run.rate()));
        text.println();
        text.flush();
        return runs;
    }

    private void check() {
        require(
                rows >= 1 && rounds >= 1,
                "--rows or --rounds is not positive",
                rows + ", " + rounds);
        require(threads >= 0 && threads <= 1024, "--threads must be 0 to 1024", threads);
        boolean power = customers >= 1024 && Integer.bitCount(customers) == 1;
        require(power, "--customers must be a power of two, at least 1024", customers);
        require(OutputFile.isWritable(out), "--out " + OutputFile.RULE, out);
    }

    private List<Double> exponents() {
        String[] ends = zipf.split("\\.\\.", -1);
        List<Double> exponents = new ArrayList<>();
        try {
            double from = Double.parseDouble(ends[0]);
            double to = Double.parseDouble(ends[ends.length - 1]);
            boolean fits = ends.length <= 2 && from >= 0 && from <= to && to <= MAX_ZIPF;
            require(fits, "--zipf must be a number from 0 to 2 or a range FROM..TO", zipf);
            for (double exponent = from; exponent < to; exponent += STEP) {
                exponents.add(exponent);
            }
            exponents.add(to);
        } catch (NumberFormatException e) {
            require(false, "--zipf must be a number from 0 to 2 or a range FROM..TO", zipf);
        }
        return exponents;
    }

    private void require(boolean holds, String fault, Object value) {
        if (!holds) {
            throw new ParameterException(spec.commandLine(), fault + ": found=" + value);
        }
    }
}
