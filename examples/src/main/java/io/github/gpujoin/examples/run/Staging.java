// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.util.FileUtils;

/** A hidden directory beside a result's place, for what is not whole yet; closing deletes it. */
public final class Staging implements AutoCloseable {

    private static final int ATTEMPTS = 20;
    private static final long ATTEMPT_INTERVAL_NS = 50_000_000;

    private final Path directory;

    private Staging(Path directory) {
        this.directory = directory;
    }

    /** Makes the directory beside the file that will be the result. */
    public static Staging beside(Path result) throws IOException {
        Path place = result.toAbsolutePath();
        long process = ProcessHandle.current().pid();
        Path directory = place.resolveSibling("." + place.getFileName() + "." + process + ".parts");
        return new Staging(Files.createDirectories(directory));
    }

    public Path directory() {
        return directory;
    }

    /** Legal twice, and from a shutdown hook while others close it or still write to it. */
    @Override
    public synchronized void close() throws IOException {
        // Under another name it cannot be written to any more, so that it stays empty once it is.
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
