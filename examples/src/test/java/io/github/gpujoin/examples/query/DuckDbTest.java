// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.query;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.examples.tbl.TblColumn;
import io.github.gpujoin.examples.tbl.TblTable;
import io.github.gpujoin.examples.tbl.TblType;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DuckDbTest {

    @TempDir private Path directory;

    @Test
    void shouldLoadAFileWhosePathHasAQuote() throws Exception {
        Path quoted = Files.createDirectory(directory.resolve("user's"));
        Files.writeString(quoted.resolve("sample.tbl"), "7|\n");
        TblTable table = TblTable.of("sample", TblColumn.of("id", TblType.INT64));

        try (DuckDb duckDb = new DuckDb()) {
            duckDb.load(table, quoted, true);

            assertThat(duckDb.query("select id from sample")).isEqualTo(List.of(List.of("7")));
        }
    }
}
