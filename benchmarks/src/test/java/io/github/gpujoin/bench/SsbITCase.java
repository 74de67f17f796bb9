// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.bench;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

@ExtendWith(RegionLeakExtension.class)
class SsbITCase {

    private static final Pattern RESULT =
            Pattern.compile(
                    "RESULT ssb format=([a-z]+) contender=([a-z-]+) query=([0-9.]+) seconds=[0-9.E-]+"
                            + " rows_per_second=[0-9.E-]+ answer=([a-z]+) startup_seconds=[0-9.E-]+");

    @TempDir private Path dir;

    private final StringWriter out = new StringWriter();
    private final StringWriter err = new StringWriter();

    private void bench(String... args) {
        CommandLine line = Bench.commandLine();
        line.setOut(new PrintWriter(out));
        line.setErr(new PrintWriter(err));
        assertThat(line.execute(args)).as(err + "\n" + out).isZero();
    }

    private List<Matcher> results() {
        return out.toString().lines().map(RESULT::matcher).filter(Matcher::matches).toList();
    }

    /** One query of each flight. */
    @ParameterizedTest
    @CsvSource({"parquet, 2.1;4.1", "tbl, 3.2", "csv, 1.1", "avro, 1.2"})
    void shouldAnswerQueriesAlikeWithEveryContender(String format, String queries) {
        bench(
                "ssb",
                "--scale-factor=0.005",
                "--data=" + dir,
                "--format=" + format,
                "--query=" + queries.replace(';', ','));
        assertThat(results())
                .extracting(result -> result.group(1) + " " + result.group(4))
                .hasSizeGreaterThanOrEqualTo(3 * queries.split(";").length)
                .containsOnly(format + " right");
        assertThat(results())
                .extracting(result -> result.group(2))
                .contains("ours", "flink-batch", "flink-streaming");
    }

    @Test
    void shouldAddUpSecondsAndCompareThemWithDuckDb() throws Exception {
        Path json = dir.resolve("ssb.json");
        bench(
                "ssb",
                "--scale-factor=0.01",
                "--data=" + dir.resolve("data"),
                "--query=1.1,4.3",
                "--contender=ours,duckdb",
                "--rounds=2",
                "--json=" + json);
        assertThat(results()).hasSize(4).allMatch(result -> result.group(4).equals("right"));
        assertThat(out.toString())
                .contains("RESULT ssb-total format=parquet contender=ours queries=2 seconds=")
                .containsPattern("contender=duckdb queries=2 .* times_duckdb=1 ");
        JsonNode observations = new ObjectMapper().readTree(json.toFile()).at("/observations");
        assertThat(observations).hasSize(6);
        assertThat(observations.at("/5/name").asText()).isEqualTo("ssb-total");
    }

    @Test
    void shouldReportContendersThatCannotReadTheFormat() {
        bench(
                "ssb",
                "--scale-factor=0.001",
                "--data=" + dir,
                "--format=avro",
                "--query=1.1",
                "--contender=ours,duckdb");
        assertThat(out.toString())
                .containsAnyOf(
                        "skipped: contender=duckdb, format=avro, reason=DuckDB's extension 'avro'",
                        "contender=duckdb query=1.1");
    }
}
