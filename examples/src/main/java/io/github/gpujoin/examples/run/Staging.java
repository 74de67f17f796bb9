// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.util.FileUtils;

/** A hidden directory beside a result file, for incomplete output. {@link #close()} deletes it. */
public final class Staging implements AutoCloseable {

    private static final int ATTEMPTS = 20;
    private static final long ATTEMPT_INTERVAL_NS = 50_000_000;

    private final Path directory;

    private Staging(Path directory) {
        this.directory = directory;
    }

    /** Creates the directory beside the future result file. */
    public static Staging beside(Path result) throws IOException {
        Path target = result.toAbsolutePath();
        long process = ProcessHandle.current().pid();
        Path directory =
                target.resolveSibling("." + target.getFileName() + "." + process + ".parts");
        return new Staging(Files.createDirectories(directory));
    }

    public Path directory() {
        return directory;
    }

    /**
     * Deletes the directory. Idempotent and thread-safe: a shutdown hook may close it while other
     * threads write to it or close it.
     */
    @Override
    public synchronized void close() throws IOException {
        // Writers use the old name, so the renamed directory stays empty once it is emptied.
        Path doomed = directory.resolveSibling(directory.getFileName() + ".deleted");
        for (int attempt = 1; Files.exists(directory) || Files.exists(doomed); attempt++) {
            try {
                if (!Files.exists(doomed)) {
                    Files.move(directory, doomed, StandardCopyOption.ATOMIC_MOVE);
                }
                FileUtils.deleteDirectory(doomed.toFile());
            } catch (IOException e) {
                if (attempt == ATTEMPTS) {
                    throw e;
                }
                LockSupport.parkNanos(ATTEMPT_INTERVAL_NS);
            }
        }
    }
}
