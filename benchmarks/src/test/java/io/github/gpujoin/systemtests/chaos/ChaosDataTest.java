// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.DataFiles;
import io.github.gpujoin.systemtests.chaos.ChaosData.Difference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What the comparison finds in rows that a job might have written. */
class ChaosDataTest {

    @TempDir private Path folder;

    private Path data;
    private Path out;

    @BeforeEach
    void makeData() throws Exception {
        data = folder.resolve("data");
        out = Files.createDirectory(folder.resolve("out"));
        DataFiles.makeMissing(Benchmark.SSB, data, 0.001, table -> {});
    }

    @Test
    void shouldFindNothingInTheRightRowsInAnyOrder() throws Exception {
        try (ChaosData expected = ChaosData.load(data)) {
            List<String> rows = rightRows(expected);
            write("part-1", rows.subList(rows.size() / 2, rows.size()));
            write("part-2", rows.subList(0, rows.size() / 2));
            // Not committed: hidden.
            write(".part-3.inprogress", rows);
            assertThat(expected.compare(out)).isEqualTo(new Difference(rows.size(), 0, 0));
        }
    }

    @Test
    void shouldCountLostDuplicatedAndWrongRows() throws Exception {
        try (ChaosData expected = ChaosData.load(data)) {
            List<String> rows = rightRows(expected);
            int size = rows.size();
            rows.remove(0);
            rows.add(rows.get(5));
            rows.add(rows.get(5));
            rows.set(3, rows.get(3) + "9");
            write("part-1", rows);
            assertThat(expected.compare(out)).isEqualTo(new Difference(size + 1, 2, 3));
        }
    }

    @Test
    void shouldTakeAllRowsForLostWhereNoneIsCommitted() throws Exception {
        try (ChaosData expected = ChaosData.load(data)) {
            int size = rightRows(expected).size();
            assertThat(expected.compare(out)).isEqualTo(new Difference(0, size, 0));
        }
    }

    private List<String> rightRows(ChaosData expected) throws Exception {
        Path right = folder.resolve("right.csv");
        expected.write(right);
        List<String> rows = new ArrayList<>(Files.readAllLines(right));
        assertThat(rows).hasSizeGreaterThan(1_000);
        return rows;
    }

    private void write(String name, List<String> rows) throws Exception {
        Files.write(out.resolve(name), rows);
    }
}
