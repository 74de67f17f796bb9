// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.skew;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

class SkewDemoTest {

    private final StringWriter text = new StringWriter();

    private int run(String... arguments) {
        CommandLine command = SkewDemo.commandLine();
        command.setOut(new PrintWriter(text)).setErr(new PrintWriter(text));
        return command.execute(arguments);
    }

    @Test
    void shouldWriteAReportThatNeedsNoNetwork(@TempDir Path folder) throws Exception {
        Path report = folder.resolve("report.html");
        int status =
                run(
                        "--engine=cpu",
                        "--threads=3",
                        "--rows=100000",
                        "--customers=1024",
                        "--rounds=1",
                        "--zipf=1..1.5",
                        "--out=" + report);
        assertThat(status).as(text.toString()).isZero();
        assertThat(text.toString()).contains("static", "adaptive", "1.25", report.toString());
        String page = Files.readString(report);
        assertThat(page).contains("\"zipf\":1.25", "\"worker", "echarts").doesNotContain("{{");
        assertThat(page).doesNotContainPattern("<(script|link)[^>]* (src|href)=");
    }

    @Test
    void shouldJoinOnTheGpuOrSayWhyNot(@TempDir Path folder) {
        int status =
                run(
                        "--engine=gpu",
                        "--rows=100000",
                        "--customers=1024",
                        "--rounds=1",
                        "--zipf=1",
                        "--out=" + folder.resolve("report.html"));
        if (status == 0) {
            assertThat(text.toString()).contains("static", "histogram", "adaptive");
        } else {
            assertThat(status).isEqualTo(1);
            assertThat(text.toString()).containsPattern("\\(NO_[A-Z_]+\\)\\s*$");
        }
    }

    @ParameterizedTest
    @CsvSource({
        "--zipf=2.5, --zipf must be a number from 0 to 2",
        "--zipf=1..0, --zipf must be a number from 0 to 2",
        "--zipf=much, --zipf must be a number from 0 to 2",
        "--zipf=0..1..2, --zipf must be a number from 0 to 2",
        "--rows=0, --rows or --rounds is not positive",
        "--customers=1000, --customers must be a power of two",
        "--threads=-1, --threads must be 0 to 1024",
        "--out=/no/such/folder/x.html, bin/skew-demo: --out is a file",
        "--out=/no/such/folder/x.html, a directory that can be written to: found=/no/such/folder/x.html (see --help)",
        "--out=/, --out is a file",
        "--engine=none, Invalid value for option '--engine'"
    })
    void shouldSayWhatIsWrongWithAnArgument(String argument, String message) {
        assertThat(run(argument)).isEqualTo(2);
        assertThat(text.toString()).contains(message);
    }
}
