// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** A small file system in memory that can be filled. Not thread-safe. Needs the right to mount. */
final class SmallDisk implements AutoCloseable {

    private static final String SIZE = "size=256m";
    private static final long TIMEOUT_S = 20;

    private final Path folder;

    private SmallDisk(Path folder) {
        this.folder = folder;
    }

    /**
     * Mounts an empty one.
     *
     * @throws IOException if this process may not mount
     */
    static SmallDisk mount(Path folder) throws IOException {
        Files.createDirectories(folder);
        run("umount", "-l", folder.toString()); // what a killed process left behind
        if (!run("mount", "-t", "tmpfs", "-o", SIZE, "none", folder.toString())) {
            throw new IOException(
                    "A small disk cannot be mounted: folder="
                            + folder
                            + ". Run as root, or without --all-faults.");
        }
        return new SmallDisk(folder);
    }

    Path folder() {
        return folder;
    }

    /** Takes all the space that is left. */
    void fill() throws IOException {
        try (OutputStream out = Files.newOutputStream(filler())) {
            writeUntilFull(out, new byte[1 << 20]);
            writeUntilFull(out, new byte[4 << 10]);
        }
    }

    private static void writeUntilFull(OutputStream out, byte[] block) {
        try {
            while (true) {
                out.write(block);
            }
        } catch (IOException full) {
            return; // as was meant
        }
    }

    void free() throws IOException {
        Files.deleteIfExists(filler());
    }

    private Path filler() {
        return folder.resolve("of-others");
    }

    private static boolean run(String... command) throws IOException {
        try {
            Process process =
                    new ProcessBuilder(command)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start();
            return process.waitFor(TIMEOUT_S, TimeUnit.SECONDS) && process.exitValue() == 0;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IOException("Interrupted while mounting.", e);
        }
    }

    @Override
    public void close() throws IOException {
        run("umount", "-l", folder.toString());
    }
}
