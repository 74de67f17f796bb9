// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.files;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.apache.parquet.schema.MessageTypeParser;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class JoinedParquetFileTest {

    @TempDir private Path directory;

    private void finishAttempt(int attempt) throws Exception {
        JoinedParquetFile.Factory file =
                JoinedParquetFile.Factory.of(
                        directory,
                        MessageTypeParser.parseMessageType("message m { optional int64 k; }"),
                        1);
        try (var writer = file.create(attempt, 1)) {
            writer.finish();
        }
    }

    @Test
    void shouldReplaceTheFileOfAnAttemptThatFailedLater() throws Exception {
        finishAttempt(0);
        finishAttempt(1);
        assertThat(FileJoinJob.finishedIn(directory))
                .isEqualTo(List.of(directory.resolve("part-0")));
        assertThat(Files.list(directory)).hasSize(1);
    }
}
