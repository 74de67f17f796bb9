// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import io.github.gpujoin.benchmarks.gpu.Ceilings;
import io.github.gpujoin.benchmarks.gpu.Figure;
import io.github.gpujoin.benchmarks.gpu.GpuBenches;
import io.github.gpujoin.benchmarks.gpu.GpuReport;
import io.github.gpujoin.benchmarks.gpu.GpuRun;
import io.github.gpujoin.benchmarks.gpu.GpuTable;
import io.github.gpujoin.benchmarks.gpu.NativeBench;
import io.github.gpujoin.benchmarks.join.Machine;
import io.github.gpujoin.benchmarks.join.OutputFile;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.CudaDrivers;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.io.PrintWriter;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Measures the GPU engine beside what the machine itself does. */
@Command(
        name = "gpu",
        description = {
            "Measures the GPU engine, every answer checked, beside what the machine itself does in"
                    + " the same run; under five minutes.",
            "A figure is the median of five rounds. A share is that of the bound, which follows"
                    + " from the bytes that the work must move and the measured ceiling.",
            "For a machine without JDK or network: bin/bench gpu --bundle FILE packs everything"
                    + " into one archive, with a script 'bench' to run there; --with-ssb adds what"
                    + " the group ssb needs."
        },
        mixinStandardHelpOptions = true,
        showDefaultValues = true)
final class GpuCommand implements Callable<Integer> {

    private static final int MIN_LOG2_ROWS = 20;
    private static final int MAX_LOG2_ROWS = 29;

    @Spec private CommandSpec spec;

    @Option(
            names = "--log2-rows",
            description = "Rows of the largest table, as a power of two; other sizes follow it.")
    private int log2Rows = MAX_LOG2_ROWS;

    @Option(
            names = "--only",
            split = ",",
            description = "Names of groups; all but ssb by default, which generates its files.")
    private List<String> only = new ArrayList<>();

    @Option(
            names = "--native",
            defaultValue = "${sys:gpujoin.native-bench:-gpu_bench}",
            description = "Program with the measurements that need no JVM.")
    private Path nativeProgram;

    @Mixin private SsbOptions ssb;

    @Option(names = "--json", converter = OutputFile.class, description = "File for all figures.")
    private @Nullable Path json;

    @Override
    public Integer call() throws Exception {
        check();
        Instant start = Instant.now();
        PrintWriter err = spec.commandLine().getErr();
        Consumer<String> progress =
                line -> {
                    err.printf("%4.0f s  %s%n", secondsSince(start), line);
                    err.flush();
                };
        List<Figure> figures = new ArrayList<>();
        GpuOptions options = GpuOptions.defaults();
        try {
            String gpu = deviceName(options.device());
            NativeBench nativeBench = new NativeBench(nativeProgram, progress);
            figures.addAll(GpuBenches.ceilings(nativeBench));
            GpuRun run =
                    new GpuRun(
                            options,
                            nativeBench,
                            Ceilings.of(figures),
                            log2Rows,
                            ssb::data,
                            progress);
            GpuBenches.run(run, only, figures::addAll);
            GpuReport report =
                    new GpuReport(
                            start.toString(),
                            Bench.typed(spec),
                            Machine.here(),
                            gpu,
                            secondsSince(start),
                            figures);
            if (json != null) {
                report.write(json);
            }
            return report.isCorrect() ? 0 : 1;
        } catch (GpuUnavailableException | IllegalArgumentException e) {
            err.println(spec.qualifiedName() + ": " + e.getMessage());
            err.flush();
            return 1;
        } finally {
            // also what was measured before a case failed
            print(figures, secondsSince(start));
        }
    }

    private void print(List<Figure> figures, double elapsedS) {
        if (figures.isEmpty()) {
            return;
        }
        PrintWriter out = spec.commandLine().getOut();
        out.println(GpuTable.of(figures));
        figures.forEach(figure -> out.println(figure.line()));
        boolean right = figures.stream().allMatch(Figure::correct);
        out.printf("elapsed_s=%.0f check=%s%n", elapsedS, right ? "ok" : "WRONG");
        out.flush();
    }

    private static double secondsSince(Instant start) {
        return Duration.between(start, Instant.now()).toMillis() / 1e3;
    }

    private static String deviceName(int device) {
        try (CudaDriver driver = CudaDrivers.open(device)) {
            return driver.deviceName();
        }
    }

    private void check() {
        if (log2Rows < MIN_LOG2_ROWS || log2Rows > MAX_LOG2_ROWS) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--log2-rows is from "
                            + MIN_LOG2_ROWS
                            + " to "
                            + MAX_LOG2_ROWS
                            + ": --log2-rows="
                            + log2Rows);
        }
        if (only.contains(GpuBenches.SSB)) {
            ssb.data();
        }
        Set<String> unknown = new HashSet<>(only);
        unknown.removeAll(GpuBenches.names());
        if (!unknown.isEmpty()) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--only takes names of groups: unknown="
                            + unknown
                            + ", groups="
                            + GpuBenches.names());
        }
    }
}
