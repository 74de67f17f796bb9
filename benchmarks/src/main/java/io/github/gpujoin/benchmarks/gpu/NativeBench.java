// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.gpu;

import java.io.BufferedReader;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * The measurements that need no JVM, a program of their own: {@code kernels/src/bench}. Its result
 * lines are those of {@link Figure#line()}.
 */
public final class NativeBench {

    private static final long END_TIMEOUT_S = 10;

    private final Path program;
    private final Consumer<String> progress;

    /**
     * @param program {@code gpu_bench}, as its Makefile builds it
     * @param progress takes every line that is no result
     */
    public NativeBench(Path program, Consumer<String> progress) {
        if (!Files.isExecutable(program)) {
            throw new IllegalArgumentException(
                    "The native benchmarks are missing: install nvcc, or use a bundle: program="
                            + program);
        }
        this.program = program;
        this.progress = progress;
    }

    /** Returns another program of the same folder. */
    NativeBench sibling(String name) {
        return new NativeBench(program.resolveSibling(name), progress);
    }

    /** Runs to the end; a wrong answer is in the figures, any other failure throws. */
    public List<Figure> run(Object... arguments) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>(List.of(program.toAbsolutePath().toString()));
        for (Object argument : arguments) {
            command.add(String.valueOf(argument));
        }
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        List<Figure> figures = new ArrayList<>();
        String last = "";
        try (BufferedReader lines = process.inputReader()) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                if (Figure.isLine(line)) {
                    figures.add(Figure.parse(line));
                } else {
                    progress.accept(line);
                    last = line;
                }
            }
            if (!process.waitFor(END_TIMEOUT_S, TimeUnit.SECONDS)) {
                throw new IllegalStateException("a program ends with its output: " + command);
            }
        } finally {
            process.destroyForcibly();
        }
        if (process.exitValue() != 0 && figures.stream().allMatch(Figure::correct)) {
            throw new IllegalStateException(
                    "native benchmarks end well: exit=" + process.exitValue() + ", last=" + last);
        }
        return figures;
    }
}
