// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Objects;

/** Files for rows that exceed memory. */
public final class SpillFiles {

    private SpillFiles() {}

    /**
     * Creates a file for writing and reading, which is deleted when it is closed.
     *
     * @param prefix of its name
     * @throws IOException if the directory cannot be written
     */
    public static FileChannel create(Path directory, String prefix) throws IOException {
        Objects.requireNonNull(prefix, "prefix");
        Path file = Files.createTempFile(directory, prefix, ".spill");
        try {
            return FileChannel.open(
                    file,
                    StandardOpenOption.READ,
                    StandardOpenOption.WRITE,
                    StandardOpenOption.DELETE_ON_CLOSE);
        } catch (IOException e) {
            Files.deleteIfExists(file);
            throw e;
        }
    }
}
