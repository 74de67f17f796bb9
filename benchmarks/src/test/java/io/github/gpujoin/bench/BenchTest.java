// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import picocli.CommandLine;
import picocli.CommandLine.Help.Ansi;

class BenchTest {

    private static final Path USAGE = Path.of("usage.txt");

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private int bench(String... args) {
        CommandLine line = Bench.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        return line.execute(args);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "bulk",
                "checkpoint",
                "encoding",
                "files",
                "gpu",
                "heavy-key",
                "hybrid",
                "join",
                "latency",
                "model",
                "nexmark",
                "tpch-stream",
                "transport"
            })
    void shouldRefuseAFileThatCannotBeWrittenBeforeItMeasures(String command) {
        assertThat(bench(command, "--json=/no/such/folder/x.json")).isEqualTo(2);
        assertThat(bench(command, "--json=/")).isEqualTo(2);
        assertThat(err.toString().lines())
                .hasSize(2)
                .allSatisfy(
                        line ->
                                assertThat(line)
                                        .startsWith("bin/bench " + command + ": ")
                                        .contains("'--json'", "a directory that can be written to")
                                        .endsWith(" (see --help)"));
    }

    /** {@code bin/bench} prints the file, which needs no build. */
    @Test
    void shouldPrintTheUsageOfTheFile() throws IOException {
        StringWriter out = new StringWriter();
        CommandLine line = Bench.commandLine();
        line.usage(new PrintWriter(out), Ansi.OFF);
        if (Boolean.getBoolean("gpu-join.update-docs")) {
            Files.writeString(USAGE, out.toString());
        }
        assertThat(USAGE)
                .as("write it with -Dgpu-join.update-docs=true")
                .hasContent(out.toString());
    }

    @ParameterizedTest
    @CsvSource({
        "foo, unknown command: foo (use one of: join bulk symmetric files gpu jmh",
        "--foo, unknown option: --foo (write bin/bench COMMAND",
        "'', the name of a measurement is missing (use one of: join bulk symmetric files gpu jmh"
    })
    void shouldRefuseAMistypedCommandBeforeTheBuild(String argument, String message)
            throws Exception {
        Process script = new ProcessBuilder("../bin/bench", argument).start();
        assertThat(script.errorReader().lines())
                .singleElement()
                .asString()
                .startsWith("bench: " + message);
        assertThat(script.waitFor()).isEqualTo(2);
    }

    @Test
    void shouldRefuseRoundsThatAreNotPositive() {
        assertThat(bench("join", "--rounds=0")).isEqualTo(2);
        assertThat(err.toString().strip())
                .isEqualTo(
                        "bin/bench join: Invalid value for option '--rounds': '0' is not a number of"
                                + " at least 1 (see --help)");
    }

    @ParameterizedTest
    @CsvSource({"join, 5", "rings, 3"})
    void shouldNameTheUsualNumberOfRounds(String command, int rounds) {
        assertThat(bench(command, "--help")).isZero();
        assertThat(out.toString().replaceAll("\\s+", " "))
                .contains("Rounds of each contender that count. Default: " + rounds);
    }

    @Test
    void shouldAskForAMeasurementInOneSentence() {
        assertThat(bench()).isEqualTo(2);
        assertThat(err.toString().strip())
                .isEqualTo("bin/bench: the name of a measurement is missing (see --help)");
    }

    @Test
    void shouldRefuseKeyGroupsThatAreNotPositive() {
        assertThat(bench("join", "--key-groups=128,0")).isEqualTo(2);
        assertThat(err.toString()).contains("--key-groups=0");
    }

    @Test
    void shouldRefuseDocsThatAreNoFolder() {
        assertThat(bench("model", "--docs=/no/such/folder")).isEqualTo(2);
        assertThat(err.toString()).contains("--docs is no folder: /no/such/folder");
    }

    @Test
    void shouldPrintEveryPointOfTheModelWithItsError() {
        assertThat(bench("model")).isZero();
        assertThat(out.toString().lines().filter(line -> line.startsWith("RESULT model-point ")))
                .hasSizeGreaterThan(10)
                .allMatch(line -> line.contains(" published=") && line.contains(" error_percent="))
                .anyMatch(line -> line.contains("id=random-1024 published=667 "))
                .noneMatch(line -> line.endsWith("check=failed"));
        assertThat(err.toString()).isEmpty();
    }
}
