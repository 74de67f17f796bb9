// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import io.github.gpujoin.etl.data.Generator;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Scanner;
import java.util.stream.Stream;

/** The process of {@link Generator}. */
final class GeneratorProcess implements AutoCloseable {

    private final Process process;
    private final Path errors;

    private GeneratorProcess(Process process, Path errors) {
        this.process = process;
        this.errors = errors;
    }

    /** What was written: orders, and updates of each dimension after the first versions. */
    record Written(long orders, long updates) {}

    /**
     * Starts it.
     *
     * @param epochMs timestamp of the first versions
     */
    static GeneratorProcess start(
            JavaCommand java, Path folder, String brokers, DemoRun.Load load, long epochMs)
            throws IOException {
        List<String> arguments =
                Stream.of(
                                brokers,
                                load.shop().seed(),
                                load.shop().customers(),
                                load.shop().products(),
                                load.ordersPerSecond(),
                                load.updatesPerSecond(),
                                epochMs)
                        .map(String::valueOf)
                        .toList();
        Path errors = folder.resolve("generator.err");
        return new GeneratorProcess(
                java.startWithPipes(errors, Generator.class.getName(), arguments), errors);
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Ends it, after all that it began is written. */
    Written stop() throws IOException {
        process.getOutputStream().close();
        try (Scanner output = new Scanner(process.getInputStream(), StandardCharsets.UTF_8)) {
            if (!output.hasNextLong()) {
                throw new IOException("The generator failed. See " + errors + ".");
            }
            return new Written(output.nextLong(), output.nextLong());
        }
    }

    @Override
    public void close() {
        JavaCommand.end(process);
    }
}
