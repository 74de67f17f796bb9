// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.etl.demo;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Starts Java processes.
 *
 * @param classPath of the processes
 * @param logging configuration file of Log4j
 * @param heap maximum, as {@code -Xmx} takes it
 */
record JavaCommand(String classPath, Path logging, String heap) {

    static final List<String> SHORT_LIVED = List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC");

    private static final long STOP_SECONDS = 20;

    /**
     * Starts a process.
     *
     * @param output file of its output and errors; a restart appends
     */
    Process start(Path output, String mainClass, List<String> arguments) throws IOException {
        return builder(output, mainClass, arguments)
                .redirectOutput(ProcessBuilder.Redirect.appendTo(output.toFile()))
                .redirectErrorStream(true)
                .start();
    }

    /**
     * Starts a process whose input and output are pipes to this one.
     *
     * @param errors file of its errors
     */
    Process startWithPipes(Path errors, String mainClass, List<String> arguments)
            throws IOException {
        return builder(errors, mainClass, arguments).redirectError(errors.toFile()).start();
    }

    private ProcessBuilder builder(Path output, String mainClass, List<String> arguments) {
        List<String> line = new ArrayList<>();
        line.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        line.add("-Xmx" + heap);
        // They live for minutes, in which compiling costs more than it gains.
        line.addAll(SHORT_LIVED);
        line.add("-Dlog4j2.configurationFile=" + logging);
        line.add("-Dlog.file=" + output.resolveSibling(output.getFileName() + ".log"));
        line.addAll(List.of("-cp", classPath, mainClass));
        line.addAll(arguments);
        return new ProcessBuilder(line);
    }

    /** Ends a process, and kills it if it does not end in time. */
    static void end(@Nullable Process process) {
        if (process == null) {
            return;
        }
        process.destroy();
        try {
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
