// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

class StagingTest {

    @TempDir private Path directory;

    @Test
    void shouldLeaveNothingWhenClosedTwice() throws IOException {
        Staging staging = Staging.beside(directory.resolve("result"));
        Files.writeString(staging.directory().resolve("part"), "half");
        staging.close();
        staging.close();
        assertThat(directory).isEmptyDirectory();
    }

    @Test
    @Timeout(60)
    void shouldLeaveNothingWhileAWriterIsStillBusy() throws Exception {
        Staging staging = Staging.beside(directory.resolve("result"));
        AtomicBoolean closed = new AtomicBoolean();
        Thread writer =
                new Thread(
                        () -> {
                            for (int i = 0; !closed.get(); i++) {
                                try {
                                    Files.writeString(staging.directory().resolve("part" + i), "");
                                } catch (IOException e) {
                                    // The directory is gone, as it should be.
                                    return;
                                }
                            }
                        });
        writer.start();
        staging.close();
        closed.set(true);
        writer.join();
        assertThat(directory).isEmptyDirectory();
    }
}
