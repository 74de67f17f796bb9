// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A test program of device functions, compiled for the CPU. */
record HostProgram(Path file) {

    private static final List<String> FLAGS =
            List.of("-std=c++20", "-O2", "-Wall", "-Wextra", "-Werror", "-pthread");

    /**
     * Skips the test without a C++ compiler.
     *
     * @param source relative to the module
     */
    static HostProgram compile(Path source) throws Exception {
        return new HostProgram(compile(source, "", List.of()));
    }

    /** Like {@link #compile}, but compiles a library that Java loads. */
    static Path compileLibrary(Path source) throws Exception {
        Path include = Path.of(System.getProperty("java.home"), "include");
        assumeTrue(Files.exists(include), "this test needs a JDK with C headers");
        return compile(
                source,
                ".so",
                List.of("-shared", "-fPIC", "-I" + include, "-I" + include.resolve("linux")));
    }

    private static Path compile(Path source, String suffix, List<String> moreFlags)
            throws Exception {
        String compiler = compiler();
        assumeTrue(compiler != null, "this test needs a C++ compiler: c++, g++ or clang++");
        String name = source.getFileName().toString().replace(".cpp", suffix);
        Path module = source.toAbsolutePath().normalize().resolve("../../../..").normalize();
        Path folder = Files.createDirectories(module.resolve("target/cuda"));
        // A test in another process may run the program of the same name.
        Path compiled = Files.createTempFile(folder, name, ".new");
        List<String> command = new ArrayList<>(List.of(compiler));
        command.addAll(FLAGS);
        command.addAll(moreFlags);
        command.addAll(List.of(source.toString(), "-o", compiled.toString()));
        run(command);
        return Files.move(compiled, folder.resolve(name), StandardCopyOption.REPLACE_EXISTING);
    }

    private static String compiler() {
        List<String> names = new ArrayList<>(List.of("c++", "g++", "clang++"));
        if (System.getenv("CXX") != null) {
            names.add(0, System.getenv("CXX"));
        }
        List<String> folders = List.of(System.getenv("PATH").split(File.pathSeparator));
        return names.stream()
                .flatMap(name -> folders.stream().map(folder -> Path.of(folder).resolve(name)))
                .filter(Files::isExecutable)
                .map(Path::toString)
                .findFirst()
                .orElse(null);
    }

    /** Runs the program and returns its lines; fails if its exit status is not 0. */
    List<String> run(String... arguments) throws Exception {
        return run(Stream.concat(Stream.of(file.toString()), Stream.of(arguments)).toList());
    }

    /** Returns the output of a program; fails if it takes more than five minutes. */
    private static List<String> run(List<String> command) throws Exception {
        Path output = Files.createTempFile("host-program", ".txt");
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(output.toFile())
                            .start();
            boolean ended = process.waitFor(5, TimeUnit.MINUTES);
            process.destroyForcibly();
            List<String> lines = Files.readAllLines(output);
            assertThat(ended).as("ends in time: %s", lines).isTrue();
            assertThat(process.exitValue()).as("exit status: %s", lines).isZero();
            return lines;
        } finally {
            Files.delete(output);
        }
    }
}
