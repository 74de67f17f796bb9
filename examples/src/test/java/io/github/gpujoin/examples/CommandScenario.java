// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.run.Cli;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Runs a command line on a cluster within this process, and keeps what the command printed. */
abstract class CommandScenario {

    /** What a command printed, and how it ended. */
    record Run(int exitCode, String out, String err) {}

    @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

    @TempDir Path directory;

    static void assertFailed(Run run, int exitCode, String sentence) {
        assertThat(run.err()).startsWith(sentence);
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    static Run run(Callable<Integer> command, List<String> arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode =
                Cli.commandLine(command)
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(err))
                        .execute(arguments.toArray(String[]::new));
        return new Run(exitCode, out.toString(), err.toString());
    }

    void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    static List<String> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
