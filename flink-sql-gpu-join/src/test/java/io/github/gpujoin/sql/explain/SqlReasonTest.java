// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.explain;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Holds the table of reasons in the documentation to the code. */
class SqlReasonTest {

    @Test
    void shouldExplainEachReason() throws IOException {
        String page = Files.readString(Path.of("../docs/troubleshooting.md"));
        String table =
                page.substring(
                        page.indexOf("## Joins of SQL that stay Flink's"),
                        page.indexOf("## Reason codes"));
        assertThat(
                        Pattern.compile("(?m)^\\| `([A-Z_0-9]+)` \\| .+ \\| .+ \\|$")
                                .matcher(table)
                                .results())
                .extracting(match -> match.group(1))
                .containsExactlyInAnyOrder(
                        Stream.of(SqlReason.values()).map(Enum::name).toArray(String[]::new));
    }
}
