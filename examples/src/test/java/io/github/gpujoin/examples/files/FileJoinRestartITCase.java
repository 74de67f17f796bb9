// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.FileJoin;
import io.github.gpujoin.examples.run.Cli;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.avro.Schema;
import org.apache.avro.SchemaBuilder;
import org.apache.avro.file.DataFileWriter;
import org.apache.avro.generic.GenericData;
import org.apache.avro.generic.GenericDatumWriter;
import org.apache.avro.generic.GenericRecord;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Joins whose attempts fail, by a damaged file, until the file is replaced by a good one. */
@Timeout(240)
class FileJoinRestartITCase {

    /** So many that results are written long before the end of the file is reached. */
    private static final int ROWS = 40_000;

    private static final String TEXT = "text ".repeat(40);

    @RegisterExtension static final MiniClusterExtension CLUSTER = new MiniClusterExtension();

    @TempDir private Path directory;

    private record Run(int exitCode, String out, String err) {}

    @BeforeEach
    void writeFiles() throws IOException {
        Files.writeString(directory.resolve("b.csv"), "k,b\n1,odd\nbad\n0,even\n");
        Schema schema =
                SchemaBuilder.record("Row")
                        .fields()
                        .requiredInt("n")
                        .requiredInt("k")
                        .requiredString("text")
                        .endRecord();
        Path good = directory.resolve("good.avro");
        try (DataFileWriter<GenericRecord> file =
                new DataFileWriter<GenericRecord>(new GenericDatumWriter<>(schema))
                        .create(schema, good.toFile())) {
            for (int n = 0; n < ROWS; n++) {
                GenericRecord record = new GenericData.Record(schema);
                record.put("n", n);
                record.put("k", n % 2);
                record.put("text", TEXT);
                file.append(record);
            }
        }
        byte[] damaged = Files.readAllBytes(good);
        damaged[damaged.length - 1] ^= 1;
        Files.write(directory.resolve("p.avro"), damaged);
    }

    @ParameterizedTest
    @EnumSource(FileFormat.class)
    void shouldGiveEachRowOnceThoughAttemptsDiedWhileTheyWrote(FileFormat format) throws Exception {
        String name = "joined." + format.name().toLowerCase(Locale.ROOT);
        Path problems = directory.resolve("problems.txt");
        CompletableFuture<Run> run =
                CompletableFuture.supplyAsync(
                        () ->
                                join(
                                        "p.avro",
                                        name,
                                        "--bad-records=" + problems,
                                        "--checkpoint-interval=3600000"));
        while (!run.isDone() && begun().size() < 2) {
            Thread.sleep(20);
        }
        // The attempt that writes has the damaged file open, and fails at its end.
        Files.move(
                directory.resolve("good.avro"),
                directory.resolve("p.avro"),
                StandardCopyOption.ATOMIC_MOVE);

        assertThat(run.get().err()).isEmpty();
        assertThat(problems).content().hasLineCount(1).contains("expected 2 fields, found 1");
        assertThat(join(name, "again.csv", "--kind=semi", "--bad-records=skip").err()).isEmpty();
        List<String> lines = Files.readAllLines(directory.resolve("again.csv"));
        assertThat(lines.subList(1, lines.size()).stream().map(line -> line.split(",")[0]))
                .containsExactlyInAnyOrderElementsOf(
                        IntStream.range(0, ROWS).mapToObj(Integer::toString).toList());
    }

    @Test
    void shouldNotBeginAgainWithoutCheckpoints() {
        Run run = join("p.avro", "joined.csv", "--bad-records=skip");
        assertThat(run.exitCode()).isEqualTo(1);
        assertThat(run.err()).contains("Invalid sync");
        assertThat(directory.resolve("joined.csv")).doesNotExist();
    }

    private Run join(String probe, String result, String... arguments) {
        List<String> all =
                List.of(
                        "--build=" + directory.resolve("b.csv"),
                        "--probe=" + directory.resolve(probe),
                        "--out=" + directory.resolve(result),
                        "--build-key=k",
                        "--probe-key=k",
                        "--parallelism=1",
                        "--engine=cpu",
                        "-Dgpu-join.chunk-bytes=16kb",
                        "-Drestart-strategy.type=fixed-delay",
                        "-Drestart-strategy.fixed-delay.attempts=1000",
                        "-Drestart-strategy.fixed-delay.delay=100 ms");
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        int exitCode =
                Cli.commandLine(new FileJoin())
                        .setOut(new PrintWriter(out))
                        .setErr(new PrintWriter(err))
                        .execute(
                                Stream.concat(all.stream(), Stream.of(arguments))
                                        .toArray(String[]::new));
        return new Run(exitCode, out.toString(), err.toString());
    }

    /**
     * Directories, of rows and of problems, in which part files have begun. A checkpoint can have
     * finished the one of problems.
     */
    private List<String> begun() throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            return files.filter(file -> file.getFileName().toString().contains("part-"))
                    .filter(file -> file.toFile().length() > 0)
                    .map(file -> file.getParent().getParent().getFileName().toString())
                    .distinct()
                    .toList();
        } catch (UncheckedIOException e) {
            // A directory went while it was looked through.
            return List.of();
        }
    }
}
