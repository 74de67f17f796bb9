// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.rdma.transport.TransportProcessTest;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;

@EnabledOnOs(OS.LINUX)
class ShmProcessTest extends TransportProcessTest {

    private Path directory;

    @BeforeEach
    void makeDirectoryInMemory() throws IOException {
        directory = Files.createTempDirectory(ShmTransport.DEFAULT_DIRECTORY, "shm-process-test");
    }

    @AfterEach
    void shouldLeaveNoFile() throws Exception {
        try (Stream<Path> left = Files.list(directory)) {
            for (Path file : left.toList()) {
                Files.setLastModifiedTime(file, FileTime.fromMillis(0));
            }
        }
        new ShmTransport(directory).close(); // sweeps what killed processes left
        try (Stream<Path> left = Files.list(directory)) {
            assertThat(left).isEmpty();
        }
        Files.delete(directory);
    }

    @Override
    protected String transport() {
        return "shm:" + directory;
    }
}
