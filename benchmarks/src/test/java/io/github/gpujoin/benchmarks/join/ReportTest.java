// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.join;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.github.gpujoin.benchmarks.workload.JoinAnswer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTest {

    private static final JoinAnswer RIGHT = new JoinAnswer(1000, 42);
    private static final JoinAnswer WRONG = new JoinAnswer(999, 41);

    private static ContenderResult result(String name, JoinAnswer answer, long... elapsedNs) {
        List<Measurement> rounds = new ArrayList<>();
        for (long ns : elapsedNs) {
            rounds.add(new Measurement(1000, ns, answer, RIGHT, Map.of("table_bytes", 7L)));
        }
        return new ContenderResult(name, rounds);
    }

    private final List<ContenderResult> results =
            List.of(
                    result("ours-engine", RIGHT, 1_000, 2_000, 4_000),
                    result(TextReport.KEYED, RIGHT, 100_000, 200_000, 400_000),
                    result(TextReport.DUCKDB, RIGHT, 4_000, 4_000, 4_000));

    @Test
    void shouldPrintOneResultLineForEachContenderWithItsMedian() {
        assertThat(new TextReport(results).resultLines().lines())
                .containsExactly(
                        "RESULT ours-engine tuples_per_second=500000000 checksum=42",
                        "RESULT flink-keyed-datastream tuples_per_second=5000000 checksum=42",
                        "RESULT duckdb tuples_per_second=250000000 checksum=42");
    }

    @Test
    void shouldRelateMediansToThePeers() {
        List<String> lines = new TextReport(results).table().lines().toList();
        assertThat(lines.get(1).trim().split("\\s+"))
                .containsExactly(
                        "ours-engine", "1000", "250.000", "500.000", "1000.000", "100.0", "2.00");
    }

    @Test
    void shouldLeaveOutRatiosToAPeerThatDidNotRun() {
        String table = new TextReport(results.subList(0, 1)).table();
        assertThat(table.lines().map(line -> line.strip().replaceAll(" +", " ")))
                .containsExactly(
                        "contender probe rows min median max",
                        "ours-engine 1000 250.000 500.000 1000.000");
    }

    @Test
    void shouldPrintDetailsOfTheLastRound() {
        assertThat(new TextReport(results).details())
                .startsWith("DETAIL ours-engine table_bytes=7");
    }

    @Test
    void shouldNameAContenderThatDisagreesInAnyRound() {
        List<Measurement> rounds = new ArrayList<>(result("x", WRONG, 1_000).rounds());
        rounds.addAll(result("x", RIGHT, 1_000, 1_000).rounds());
        TextReport report = new TextReport(List.of(new ContenderResult("x", rounds)));
        assertThat(report.resultLines()).contains("checksum=41");
        assertThat(report.disagreements())
                .contains("contender=x")
                .contains("answer=JoinAnswer[count=999, checksum=41]")
                .contains("expected=JoinAnswer[count=1000, checksum=42]");
    }

    @Test
    void shouldSayNothingWhereAllAgree() {
        assertThat(new TextReport(results).disagreements()).isEmpty();
    }

    @Test
    void shouldWriteAllFiguresAsJson(@TempDir Path dir) throws Exception {
        Path file = dir.resolve("deep/result.json");
        new JsonReport(Machine.here(), Map.of("flink", "2.3.0"), "bin/bench join", results)
                .write(file);
        JsonNode document = new ObjectMapper().readTree(file.toFile());
        assertThat(document.at("/command").asText()).isEqualTo("bin/bench join");
        assertThat(document.at("/versions/flink").asText()).isEqualTo("2.3.0");
        assertThat(document.at("/machine/cores").asInt()).isPositive();
        assertThat(document.at("/contenders")).hasSize(3);
        assertThat(document.at("/contenders/0/rounds")).hasSize(3);
        assertThat(document.at("/contenders/0/rounds/1/elapsedNs").asLong()).isEqualTo(2_000);
        assertThat(document.at("/contenders/0/rounds/1/details/table_bytes").asLong()).isEqualTo(7);
        assertThat(document.at("/contenders/0/correct").asBoolean()).isTrue();
        try (var files = Files.list(file.getParent())) {
            assertThat(files).containsExactly(file);
        }
    }
}
