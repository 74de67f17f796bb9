// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The command gpu-join, from its arguments to its exit code. */
class FileJoinTest extends CommandScenario {

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
                "k,k\\n1,2\\n; k,p\\n1,2\\n; Two columns of a CSV file have the same name. Rename one: file=",
                "a,b\\n1,2\\n; k,p\\n1,2\\n; Unknown key column. Choose one of the columns of the file: file=",
                "''; k,p\\n1,2\\n; CSV file without a header line. Add one: file=",
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
        assertFailed(
                csvJoin(keys),
                1,
                "gpu-join: Cannot read the file. Check the path and its permissions: file=");
        Files.createDirectory(directory.resolve("probe.csv"));
        assertFailed(
                csvJoin(keys), 1, "gpu-join: The file is a directory. Name a file in it: file=");
        Files.delete(directory.resolve("probe.csv"));
        write("probe.csv", "k\n1\n");
        assertFailed(csvJoinTo("probe.csv", keys), 1, "gpu-join: --out names an input file: ");
        assertFailed(csvJoinTo(".", keys), 1, "gpu-join: --out is a directory: ");
        assertFailed(
                csvJoinTo("no/such/out.csv", keys),
                1,
                "gpu-join: The directory of --out does not exist");
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
}
