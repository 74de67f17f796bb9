// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.join.Contender;
import io.github.gpujoin.benchmarks.join.ContenderResult;
import io.github.gpujoin.benchmarks.join.Observations;
import io.github.gpujoin.benchmarks.join.Rounds;
import io.github.gpujoin.benchmarks.local.SymmetricJoinContender;
import io.github.gpujoin.benchmarks.local.SymmetricJoinContender.Arrival;
import io.github.gpujoin.benchmarks.workload.KeyDomain;
import io.github.gpujoin.benchmarks.workload.Tuples;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuMatchIndexFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Joins two inputs that both go on, on the CPU and on a GPU. */
@Command(
        name = "symmetric",
        description = {
            "Joins two inputs that both go on, by one thread, in rounds that take turns.",
            "A tuple is an INT64 key and an INT64 payload; every probe tuple has one match.",
            "arrival=interleaved: chunks of both inputs in turn; arrival=build_first: the build"
                    + " tuples are loaded before the time begins.",
            "Rates are of tuples of both inputs over the time in which they are joined and the"
                    + " payloads of all results are added up."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class SymmetricCommand implements Callable<Integer> {

    /** What has the chains of rows. */
    enum Engine {
        CPU,
        GPU
    }

    @Spec private CommandSpec spec;

    @Option(names = "--build-rows", description = "Rows with unique keys.")
    private int buildRows = 10_000_000;

    @Option(names = "--probe-rows", description = "Rows with uniform foreign keys.")
    private long probeRows = 40_000_000;

    @Option(
            names = "--engines",
            split = ",",
            description = "Of ${COMPLETION-CANDIDATES}; a GPU is not used unless named.")
    private List<Engine> engines = List.of(Engine.CPU);

    @Option(names = "--keys", description = "${COMPLETION-CANDIDATES}, as of bin/bench join.")
    private KeyDomain keys = KeyDomain.SPARSE;

    @Option(names = "--seed", description = "Seed of the tuples.")
    private long seed = 42;

    @Mixin private MeasurementOptions measurement = new MeasurementOptions(5);

    @Override
    public Integer call() throws Exception {
        if (buildRows < 1 || probeRows < 1) {
            throw new ParameterException(
                    spec.commandLine(),
                    "A number is not positive: --build-rows=%d, --probe-rows=%d"
                            .formatted(buildRows, probeRows));
        }
        PrintWriter out = spec.commandLine().getOut();
        PrintWriter err = spec.commandLine().getErr();
        Tuples tuples = Tuples.generate(buildRows, probeRows, keys, seed);
        List<Contender> contenders = new ArrayList<>();
        for (Arrival arrival : Arrival.values()) {
            for (Engine engine : engines) {
                contenders.add(new SymmetricJoinContender(tuples, arrival, joins(engine)));
            }
        }
        List<ContenderResult> results =
                new Rounds(contenders, err::println).run(measurement.rounds());
        Observations observations = new Observations(Bench.typed(spec), out);
        report(results, observations);
        return measurement.report(results, observations, out, err);
    }

    private static SymmetricJoinFactory joins(Engine engine) {
        return switch (engine) {
            case CPU -> new CpuSymmetricJoinFactory();
            case GPU ->
                    new IndexedSymmetricJoinFactory(
                            new GpuMatchIndexFactory(GpuOptions.defaults()));
        };
    }

    private void report(List<ContenderResult> results, Observations observations) {
        for (int i = 0; i < results.size(); i++) {
            ContenderResult result = results.get(i);
            Arrival arrival = Arrival.values()[i / engines.size()];
            double first = results.get(i - i % engines.size()).tuplesPerSecond().median();
            observations.add(
                    "symmetric-join",
                    "engine",
                    result.name(),
                    "arrival",
                    arrival.name().toLowerCase(Locale.ROOT),
                    "build_rows",
                    buildRows,
                    "probe_rows",
                    probeRows,
                    "keys",
                    keys.name().toLowerCase(Locale.ROOT),
                    "tuples_per_second",
                    result.tuplesPerSecond().median(),
                    "x_first",
                    result.tuplesPerSecond().median() / first,
                    "answer",
                    result.isCorrect() ? "right" : "wrong");
        }
    }
}
