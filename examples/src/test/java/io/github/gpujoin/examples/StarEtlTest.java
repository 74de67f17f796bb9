// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command star-etl, from its arguments to its exit code. */
class StarEtlTest extends CommandScenario {

    @TempDir private static Path data;

    @BeforeAll
    static void makeData() throws IOException {
        DataFiles.makeMissing(Benchmark.SSB, data, 0.001, table -> {});
    }

    @Test
    void shouldWriteTheResultOfAQueryWithItsHeader() throws IOException {
        Path out = directory.resolve("made/on/the/way");
        Run run = starEtl("--data", data, "--query", "3.1", "--out", out);
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        List<String> lines = Files.readAllLines(out.resolve("q3.1.csv"));
        assertThat(lines.get(0)).isEqualTo("c_nation,s_nation,d_year,revenue");
        assertThat(run.out())
                .contains("q3.1: " + (lines.size() - 1) + " rows", "fact rows/s", "Next steps");
        assertThat(filesIn(out)).containsExactly("q3.1.csv");
    }

    @Test
    void shouldMakeDataWhereTheScaleFactorIsGiven() throws IOException {
        Path made = directory.resolve("data");
        Run run = starEtl("--data", made, "--scale-factor", "0.001", "--query", "1.1");
        assertThat(run.exitCode()).isZero();
        assertThat(filesIn(made))
                .containsExactlyInAnyOrder(
                        "customer.tbl", "date.tbl", "lineorder.tbl", "part.tbl", "supplier.tbl");
    }

    @Test
    void shouldWriteAnEmptySumAsANull() throws IOException {
        copyData();
        Files.writeString(directory.resolve("lineorder.tbl"), "");
        Run run = starEtl("--data", directory, "--query", "1.1", "--out", directory);
        assertThat(run.exitCode()).isZero();
        assertThat(directory.resolve("q1.1.csv")).hasContent("revenue\n\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "--query 9.9; Unknown query: query=9.9. Use all or one of 1.1,",
                "--engine abacus; Invalid value for option '--engine'",
                "--state paper; Invalid value for option '--state'",
                "--parallelism 0; Invalid --parallelism: 0. Use 1 to 128.",
                "--parallelism two; Invalid value for option '--parallelism'",
                "--checkpoint-interval -1; Invalid --checkpoint-interval: -1 ms. Use 0 or at least 10 ms.",
                "--scale-factor -1; Invalid --scale-factor: -1. Use a number above 0.",
                "--scale-factor big; Invalid value for option '--scale-factor'",
                "-D parallelism.default; Value for option option '-D' (KEY=VALUE)",
                "-D parallelism.default=0; Invalid parallelism.default: 0. Use 1 to 128.",
                "-D gpu-join.enigne=cpu; Unknown option: gpu-join.enigne. Did you mean"
                        + " gpu-join.engine?",
                "--colour red; Unknown options: '--colour', 'red'",
            })
    void shouldRefuseWrongArgumentsOfStarEtlInOneSentence(String arguments, String sentence) {
        Run run = starEtl((Object[]) arguments.split(" "));
        assertFailed(run, 2, "star-etl: " + sentence);
    }

    @Test
    void shouldSetAnyOptionAsConfigYamlDoes() {
        Run run = starEtl("--data", data, "--query=1.1", "-D", "gpu-join.chunk-bytes=0");
        assertFailed(run, 1, "star-etl: Option out of range: gpu-join.chunk-bytes=0");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "gpu-join.chunk-bytes=big; Use a size such as 128 kb.",
                "gpu-join.partition-groups=all; Use a number such as 0.",
                "gpu-join.engine=abacus; Use one of auto, gpu, cpu, reference.",
                "gpu-join.ring.sharing=taskmanager; Use one of none, task_manager, auto."
            })
    void shouldNameTheOptionWhoseValueCannotBeReadAndItsValues(String option, String remedy) {
        Run run = starEtl("--data", data, "--query=1.1", "-D", option);
        assertFailed(run, 1, "star-etl: Wrong value: %s. %s".formatted(option, remedy));
    }

    @Test
    void shouldNameAnOptionOfFlinkWhoseValueCannotBeRead() {
        Run run = starEtl("--data", data, "--query=1.1", "-D", "parallelism.default=many");
        assertFailed(
                run, 1, "star-etl: Could not parse value 'many' for key 'parallelism.default'.");
    }

    @ParameterizedTest
    @ValueSource(strings = {"BATCH", "AUTOMATIC"})
    void shouldAnswerAlikeInAnyExecutionMode(String mode) throws IOException {
        Path streaming = directory.resolve("streaming");
        Path other = directory.resolve("other");
        starEtl("--data", data, "--query=3.1", "--out", streaming);
        Run run =
                starEtl(
                        "--data",
                        data,
                        "--query=3.1",
                        "--out",
                        other,
                        "-D",
                        "execution.runtime-mode=" + mode);
        assertThat(run.exitCode()).as(run.err()).isZero();
        assertThat(other.resolve("q3.1.csv"))
                .hasSameTextualContentAs(streaming.resolve("q3.1.csv"));
    }

    @Test
    void shouldRefuseADirectoryWhereAFileIsMissing() throws IOException {
        copyData();
        Files.delete(directory.resolve("part.tbl"));
        String sentence = "star-etl: Table file missing: ";
        assertFailed(starEtl("--data", directory), 1, sentence);
        Run run = starEtl("--data", directory, "--scale-factor", "0.001");
        assertFailed(run, 1, sentence);
        assertThat(run.err()).contains(directory.resolve("part.tbl").toString());
    }

    @Test
    @Timeout(120)
    void shouldNameTheMalformedLineAndWriteNoResult() throws IOException {
        copyData();
        Path part = directory.resolve("part.tbl");
        List<String> lines = Files.readAllLines(part);
        lines.set(6, lines.get(6).replaceFirst("^7\\|", "seven|"));
        Files.write(part, lines);
        Path out = directory.resolve("out");
        // Checkpoints bring restarts, which such a failure must not cause.
        Run run =
                starEtl(
                        "--data",
                        directory,
                        "--query=2.1",
                        "--checkpoint-interval=50",
                        "--out",
                        out);
        assertFailed(
                run,
                1,
                "star-etl: malformed line: file="
                        + part
                        + ", line=7, column=p_partkey, expected a 32-bit integer, found 'seven'");
        assertThat(filesIn(out)).isEmpty();
    }

    @Test
    void shouldRefuseAFileAsTheResultsDirectory() throws IOException {
        Path file = Files.writeString(directory.resolve("file"), "kept");
        Run run = starEtl("--data", data, "--out", file);
        assertFailed(run, 1, "star-etl: Cannot create the result directory: " + file);
        assertThat(file).hasContent("kept");
    }

    @Test
    void shouldExplainEachJoinOfAQueryAndRunNone() throws IOException {
        Run run = starEtl("--data", data, "--query", "2.1", "--explain", "--out", directory);
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        assertThat(run.out())
                .contains("Star join q2.1, planned", "WITHIN_LIMIT: ")
                .containsPattern("part +INNER +REPLICATED +WITHIN_LIMIT +all +gpu or cpu");
        assertThat(filesIn(directory)).isEmpty();
    }

    private static Run starEtl(Object... arguments) {
        return run(new StarEtl(), Stream.of(arguments).map(Object::toString).toList());
    }

    private void copyData() throws IOException {
        for (String file : filesIn(data)) {
            Files.copy(
                    data.resolve(file),
                    directory.resolve(file),
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }
}
