package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.examples.run.Cli;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Stream;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The command lines from their arguments to their exit codes, on a cluster that is there. */
class CommandLineTest {

    /** What a command printed, and how it ended. */
    private record Run(int exitCode, String out, String err) {}

    @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

    @TempDir private static Path data;
    @TempDir private Path directory;

    @BeforeAll
    static void makeData() throws IOException {
        DataFiles.makeMissing(Benchmark.SSB, data, 0.001, table -> {});
    }

    // ------------------------------------------------------------------ star-etl

    @Test
    void shouldWriteTheResultOfAQueryWithItsHeader() throws IOException {
        Path out = directory.resolve("made/on/the/way");
        Run run = starEtl("--data", data, "--query", "3.1", "--out", out);
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        List<String> lines = Files.readAllLines(out.resolve("q3.1.csv"));
        assertThat(lines.get(0)).isEqualTo("c_nation,s_nation,d_year,revenue");
        assertThat(run.out())
                .contains("q3.1: " + (lines.size() - 1) + " rows", "fact rows/s", "Where to look");
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
                "--query 9.9; there is no such query: query=9.9",
                "--engine abacus; Invalid value for option '--engine'",
                "--state paper; Invalid value for option '--state'",
                "--parallelism 0; --parallelism is 1 to 128: parallelism=0",
                "--parallelism two; Invalid value for option '--parallelism'",
                "--checkpoint-interval -1; --checkpoint-interval is 0 or at least 10",
                "--scale-factor -1; --scale-factor is above 0: scaleFactor=-1",
                "--scale-factor big; Invalid value for option '--scale-factor'",
                "-D parallelism.default; Value for option option '-D' (KEY=VALUE)",
                "-D parallelism.default=0; parallelism.default is 1 to 128: parallelism=0",
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
        assertFailed(run, 1, "star-etl: gpu-join.chunk-bytes must be at least 1 bytes");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"gpu-join.chunk-bytes=big", "gpu-join.units=all", "gpu-join.engine=abacus"})
    void shouldNameTheOptionWhoseValueCannotBeRead(String option) {
        Run run = starEtl("--data", data, "--query=1.1", "-D", option);
        String[] parts = option.split("=");
        assertFailed(
                run,
                1,
                "star-etl: Could not parse value '%s' for key '%s'.".formatted(parts[1], parts[0]));
    }

    @Test
    void shouldRefuseBatchMode() {
        Run run = starEtl("--data", data, "--query=1.1", "-D", "execution.runtime-mode=BATCH");
        assertFailed(
                run,
                1,
                "star-etl: execution.runtime-mode=BATCH may run subtasks one after another");
    }

    @Test
    void shouldRefuseADirectoryWhereAFileIsMissing() throws IOException {
        copyData();
        Files.delete(directory.resolve("part.tbl"));
        String sentence = "star-etl: the data directory must hold all tables of the benchmark";
        assertFailed(starEtl("--data", directory), 1, sentence);
        Run run = starEtl("--data", directory, "--scale-factor", "0.001");
        assertFailed(run, 1, sentence);
        assertThat(run.err()).contains("file=" + directory.resolve("part.tbl"));
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
        assertFailed(run, 1, "star-etl: the results' directory cannot be made: out=" + file);
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

    // ------------------------------------------------------------------ gpu-join

    @Test
    void shouldJoinCsvFilesWithNullsAndQuotes() throws IOException {
        write(
                "build.csv",
                "id,name,note\r\n1,\"a \"\"b\"\", c\",\r\n2,,\"\"\r\n2,\"x\ny\",z\r\n,n,m\r\n");
        write("probe.csv", "\uFEFFk,id,v\n1,x,10\n2,y,\n\n9,n,1\n,null,\"\"\n");
        Run run = csvJoin("--build-key", "id", "--probe-key", "k");
        assertThat(run.err()).isEmpty();
        assertThat(run.exitCode()).isZero();
        String result = Files.readString(directory.resolve("out.csv"));
        assertThat(result).startsWith("k,id,v,build.id,name,note\n");
        assertThat(result.substring(result.indexOf('\n') + 1).split("(?<=\\n)(?=\\d)"))
                .containsExactlyInAnyOrder(
                        "1,x,10,1,\"a \"\"b\"\", c\",\n", "2,y,,2,,\"\"\n", "2,y,,2,\"x\ny\",z\n");
        assertThat(filesIn(directory))
                .containsExactlyInAnyOrder("build.csv", "probe.csv", "out.csv");
        // Lines of both files; a header makes up for nothing.
        assertThat(run.out()).startsWith("gpu-join: about 12 rows to read");
    }

    @Test
    void shouldExplainAJoinOfFilesWithoutAResult() throws IOException {
        write("build.csv", "k\n5\n");
        write("probe.csv", "k\n5\n");
        Run run =
                run(
                        new FileJoin(),
                        List.of(
                                "--build=" + directory.resolve("build.csv"),
                                "--probe=" + directory.resolve("probe.csv"),
                                "--build-key=k",
                                "--probe-key=k",
                                "--kind=right",
                                "--engine=cpu",
                                "--explain"));
        assertThat(run.err()).isEmpty();
        assertThat(run.out())
                .containsPattern("build +RIGHT +PARTITIONED +KEEPS_BUILD_ROWS +all +cpu +ASKED");
        assertThat(filesIn(directory)).containsExactlyInAnyOrder("build.csv", "probe.csv");
    }

    @Test
    void shouldKeepEachProbeRowOnceInASemiJoin() throws IOException {
        write("build.csv", "k\n5\n5\n-9223372036854775808\n");
        write("probe.csv", "a,k\nfirst,5\nsecond,-9223372036854775808\nthird,6\n");
        Run run = csvJoin("--build-key", "k", "--probe-key", "k", "--kind", "semi");
        assertThat(run.exitCode()).isZero();
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactlyInAnyOrder("a,k", "first,5", "second,-9223372036854775808");
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = ';',
            value = {
                "inner; 1,a,1,x|1,b,1,x",
                "left; 1,a,1,x|1,b,1,x|2,c,,|,d,,",
                "right; 1,a,1,x|1,b,1,x|,,3,y|,,,z",
                "full; 1,a,1,x|1,b,1,x|2,c,,|,d,,|,,3,y|,,,z",
                "SEMI; 1,a|1,b",
                "Anti; 2,c|,d",
            })
    void shouldJoinEveryKindWithAnEmptyFieldForNull(String kind, String rows) throws IOException {
        write("build.csv", "id,name\n1,x\n3,y\n,z\n");
        write("probe.csv", "k,v\n1,a\n1,b\n2,c\n,d\n");
        Run run = csvJoin("--build-key", "id", "--probe-key", "k", "--kind", kind);
        assertThat(run.err()).isEmpty();
        List<String> lines = Files.readAllLines(directory.resolve("out.csv"));
        assertThat(lines.subList(1, lines.size())).containsExactlyInAnyOrder(rows.split("\\|"));
    }

    @Test
    void shouldJoinTextWhereAKeyDoesNotReadAsAnInteger() throws IOException {
        // Aa and BB have one hash; as text 7 and 07 differ; the last is no 64-bit integer
        write("build.csv", "k,b\nAa,1\n7,2\n9223372036854775808,3\n\"\",4\n,5\n");
        write("probe.csv", "k,p\nBB,1\n07,2\n9223372036854775808,3\n\"\",4\n,5\nAa,6\n");
        Run run = csvJoin("--build-key", "k", "--probe-key", "k", "--kind", "left");
        assertThat(run.err()).isEmpty();
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactlyInAnyOrder(
                        "k,p,build.k,b",
                        "BB,1,,",
                        "07,2,,",
                        "9223372036854775808,3,9223372036854775808,3",
                        "\"\",4,\"\",4",
                        ",5,,",
                        "Aa,6,Aa,1");
    }

    @Test
    void shouldGiveTakenNamesAPrefixUntilTheyDiffer() throws IOException {
        write("build.csv", "k,build.k\n1,b\n");
        write("probe.csv", "k,build.k\n1,p\n");
        assertThat(csvJoin("--build-key", "k", "--probe-key", "k").exitCode()).isZero();
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactly("k,build.k,build.build.k,build.build.build.k", "1,p,1,b");
    }

    @Test
    void shouldWriteOnlyTheHeaderWhereNothingMatches() throws IOException {
        write("build.csv", "k,b\n");
        write("probe.csv", "k,p\n1,x\n");
        assertThat(csvJoin("--build-key", "k", "--probe-key", "k").exitCode()).isZero();
        assertThat(directory.resolve("out.csv")).hasContent("k,p,build.k,b\n");
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = ';',
            value = {
                "k,k\\n1,2\\n; k,p\\n1,2\\n; column names of a file must differ: file=",
                "a,b\\n1,2\\n; k,p\\n1,2\\n; there is no such column: file=",
                "''; k,p\\n1,2\\n; a CSV file must begin with a header line: file=",
                "k,b\\n1,2\\n; k,p\\n1,2\\n3\\n; line=3, expected 2 fields, found 1",
                "k,b\\n1,2\\n; k,p\\n1,2\\n3,4,5\\n; line=3, expected 2 fields, found 3",
                "k,b\\n1,\"open\\n; k,p\\n1,2\\n; malformed line: file=",
            },
            ignoreLeadingAndTrailingWhitespace = true,
            quoteCharacter = '\'')
    void shouldRefuseWrongCsvFilesInOneSentence(String build, String probe, String sentence)
            throws IOException {
        write("build.csv", build.replace("\\n", "\n"));
        write("probe.csv", probe.replace("\\n", "\n"));
        Run run = csvJoin("--build-key", "k", "--probe-key", "k");
        assertFailed(run, 1, "gpu-join: ");
        assertThat(run.err()).contains(sentence);
        assertThat(filesIn(directory)).containsExactlyInAnyOrder("build.csv", "probe.csv");
    }

    @Test
    void shouldRefuseFilesThatCannotBeReadOrWritten() throws IOException {
        write("build.csv", "k\n1\n");
        String[] keys = {"--build-key", "k", "--probe-key", "k"};
        assertFailed(csvJoin(keys), 1, "gpu-join: the file cannot be read: file=");
        write("probe.csv", "k\n1\n");
        assertFailed(
                csvJoinTo("probe.csv", keys),
                1,
                "gpu-join: --out must be another file than the inputs");
        assertFailed(csvJoinTo(".", keys), 1, "gpu-join: --out must be a file, not a directory");
        assertFailed(
                csvJoinTo("no/such/out.csv", keys),
                1,
                "gpu-join: the directory of --out does not exist");
        assertThat(directory.resolve("probe.csv")).hasContent("k\n1\n");
    }

    @Test
    void shouldRefuseBytesThatAreNotUtf8() throws IOException {
        write("build.csv", "k\n1\n");
        Files.write(directory.resolve("probe.csv"), new byte[] {'k', '\n', '1', (byte) 0xC3, '\n'});
        Run run = csvJoin("--build-key", "k", "--probe-key", "k");
        assertFailed(run, 1, "gpu-join: malformed line: file=");
        // What is decoded at a time is many lines.
        assertThat(run.err()).contains("line=1, expected UTF-8 on this line or one that follows");
    }

    @Test
    void shouldKeepAnEmptyLineOfOneColumnAsANull() throws IOException {
        write("build.csv", "\nid\r\n1\r\n\r\n\"\"\r\n\n");
        write("probe.csv", "k,v\n\n1,x\n\n");
        Run run = csvJoin("--build-key", "id", "--probe-key", "k", "--kind", "right");
        assertThat(run.err()).isEmpty();
        assertThat(Files.readAllLines(directory.resolve("out.csv")))
                .containsExactlyInAnyOrder("k,v,id", "1,x,1", ",,", ",,\"\"", ",,");
    }

    @Test
    void shouldLeaveAnEarlierResultWhereAJoinFails() throws IOException {
        write("out.csv", "earlier\n");
        write("build.csv", "k\n1\n");
        write("probe.csv", "k\n1,2\n");
        assertFailed(csvJoin("--build-key", "k", "--probe-key", "k"), 1, "gpu-join: malformed");
        assertThat(directory.resolve("out.csv")).hasContent("earlier\n");
    }

    // ------------------------------------------------------------------ each command

    static List<Callable<Integer>> commands() {
        return List.of(new StarEtl(), new FileJoin(), new SqlExample());
    }

    @ParameterizedTest
    @MethodSource("commands")
    void shouldOfferHelpAndNoVersion(Callable<Integer> command) {
        Run help = run(command, List.of("--help"));
        assertThat(help.exitCode()).isZero();
        assertThat(help.out()).contains("-h, --help").doesNotContain("--version", "-V");
        assertThat(run(command, List.of("-V")).exitCode()).isEqualTo(2);
    }

    // ------------------------------------------------------------------ running

    private static void assertFailed(Run run, int exitCode, String sentence) {
        assertThat(run.err()).startsWith(sentence);
        assertThat(run.err().lines()).hasSize(1);
        assertThat(run.exitCode()).isEqualTo(exitCode);
    }

    private static Run starEtl(Object... arguments) {
        return run(new StarEtl(), Stream.of(arguments).map(Object::toString).toList());
    }

    private Run csvJoin(String... arguments) {
        return csvJoinTo("out.csv", arguments);
    }

    private Run csvJoinTo(String out, String... arguments) {
        List<String> files =
                List.of(
                        "--build=" + directory.resolve("build.csv"),
                        "--probe=" + directory.resolve("probe.csv"),
                        "--out=" + directory.resolve(out));
        return run(new FileJoin(), Stream.concat(Stream.of(arguments), files.stream()).toList());
    }

    private static Run run(Callable<Integer> command, List<String> arguments) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode =
                Cli.commandLine(command)
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(err))
                        .execute(arguments.toArray(String[]::new));
        return new Run(exitCode, out.toString(), err.toString());
    }

    private void write(String file, String text) throws IOException {
        Files.writeString(directory.resolve(file), text);
    }

    private void copyData() throws IOException {
        for (String file : filesIn(data)) {
            Files.copy(
                    data.resolve(file),
                    directory.resolve(file),
                    StandardCopyOption.REPLACE_EXISTING);
        }
    }

    private static List<String> filesIn(Path directory) throws IOException {
        try (Stream<Path> files = Files.list(directory)) {
            return files.map(file -> file.getFileName().toString()).toList();
        }
    }
}
