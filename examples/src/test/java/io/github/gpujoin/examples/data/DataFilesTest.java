// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DataFilesTest {

    @TempDir private static Path tenth;
    @TempDir private Path directory;

    @BeforeAll
    static void makeATenth() throws IOException {
        make(tenth, 0.1);
    }

    @Test
    void shouldMakeTheSameSsbFilesEveryTime() throws Exception {
        Path first = directory.resolve("first");
        Path second = directory.resolve("second");
        make(first, 0.01);
        make(second, 0.01);
        for (var table : SsbTables.ALL) {
            assertThat(second.resolve(table.fileName()))
                    .hasSameBinaryContentAs(first.resolve(table.fileName()));
        }
        // Results that were published for a scale factor stay comparable from release to release.
        assertThat(sha256(first.resolve("lineorder.tbl"))).isEqualTo("64ee8d6a85035969");
        assertThat(sha256(first.resolve("date.tbl"))).isEqualTo("d22facd3b511f394");
    }

    @Test
    void shouldMakeAMissingFileAsItWas() throws Exception {
        make(directory, 0.001);
        Path part = directory.resolve("part.tbl");
        String before = sha256(part);
        Files.delete(part);
        List<String> made = new ArrayList<>();
        DataFiles.makeMissing(Benchmark.SSB, directory, 0.001, t -> made.add(t.fileName()));
        assertThat(made).containsExactly("part.tbl");
        assertThat(sha256(part)).isEqualTo(before);
    }

    @Test
    void shouldScaleSsbTablesAsSpecified() throws IOException {
        assertThat(rows(tenth, "customer.tbl")).hasSize(3_000);
        assertThat(rows(tenth, "supplier.tbl")).hasSize(200);
        assertThat(rows(tenth, "part.tbl")).hasSize(20_000);
        assertThat(rows(tenth, "date.tbl")).hasSize(2_556);
        assertThat((double) rows(tenth, "lineorder.tbl").size())
                .isCloseTo(600_000, within(6_000.0));
    }

    @Test
    void shouldKeepTheFilterFactorsOfTheSpecification() throws IOException {
        List<String[]> lineorders = rows(tenth, "lineorder.tbl");
        assertThat(share(lineorders, row -> row[5].startsWith("1993")))
                .isCloseTo(0.152, within(0.01));
        assertThat(share(lineorders, row -> number(row[11]) >= 1 && number(row[11]) <= 3))
                .isCloseTo(3.0 / 11, within(0.01));
        assertThat(share(lineorders, row -> number(row[8]) < 25)).isCloseTo(0.48, within(0.01));
        List<String[]> parts = rows(tenth, "part.tbl");
        assertThat(share(parts, row -> row[3].equals("MFGR#12"))).isCloseTo(1.0 / 25, within(0.01));
        assertThat(share(parts, row -> row[4].equals("MFGR#2221")))
                .isCloseTo(1.0 / 1_000, within(0.001));
        List<String[]> customers = rows(tenth, "customer.tbl");
        assertThat(share(customers, row -> row[5].equals("ASIA"))).isCloseTo(0.2, within(0.03));
        assertThat(share(customers, row -> row[4].equals("UNITED STATES")))
                .isCloseTo(0.04, within(0.015));
        assertThat(share(customers, row -> row[3].equals("UNITED KI1")))
                .isCloseTo(0.004, within(0.004));
    }

    @Test
    void shouldKeepTheRelationsBetweenColumnsOfALineorder() throws IOException {
        make(directory, 0.01);
        assertThat(rows(directory, "lineorder.tbl"))
                .allSatisfy(
                        row -> {
                            assertThat(row).hasSize(SsbTables.LINEORDER.columns().size());
                            long price = number(row[9]);
                            assertThat(number(row[12]))
                                    .isEqualTo(price * (100 - number(row[11])) / 100);
                            assertThat(number(row[13])).isEqualTo(price / number(row[8]) * 6 / 10);
                            assertThat(number(row[2]) % 3).isNotZero();
                            assertThat(number(row[15])).isBetween(number(row[5]), 19981031L);
                        });
    }

    @Test
    void shouldLeaveNothingWhereAFileIsNotCommitted() throws IOException {
        Path file = Files.writeString(directory.resolve("result"), "before");
        try (WholeFile whole = WholeFile.create(file);
                OutputStream out = whole.open()) {
            out.write("half".getBytes(StandardCharsets.UTF_8));
        }
        assertThat(file).hasContent("before");
        try (Stream<Path> files = Files.list(directory)) {
            assertThat(files).containsExactly(file);
        }
    }

    @Test
    void shouldRefuseAScaleFactorThatIsNotPositive() {
        assertThatThrownBy(() -> make(directory, 0))
                .hasMessage(
                        "Scale factor out of range: scaleFactor=0.0. Use a number above 0 and at most"
                                + " 100000.");
        assertThatThrownBy(() -> make(directory, Double.NaN)).hasMessageContaining("NaN");
    }

    private static void make(Path directory, double scaleFactor) throws IOException {
        DataFiles.makeMissing(Benchmark.SSB, directory, scaleFactor, table -> {});
    }

    private static List<String[]> rows(Path directory, String file) throws IOException {
        try (Stream<String> lines = Files.lines(directory.resolve(file))) {
            return lines.map(line -> line.split("\\|")).toList();
        }
    }

    private static double share(List<String[]> rows, Predicate<String[]> predicate) {
        return (double) rows.stream().filter(predicate).count() / rows.size();
    }

    private static long number(String text) {
        return Long.parseLong(text);
    }

    private static String sha256(Path file) throws Exception {
        byte[] digest = MessageDigest.getInstance("SHA-256").digest(Files.readAllBytes(file));
        return HexFormat.of().formatHex(digest, 0, 8);
    }
}
