// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/**
 * A file that appears under its name only when it is whole: it is written beside its path under a
 * hidden name and moved there by {@link #commit}. Closed without a commit, or when the process ends
 * before, it leaves nothing.
 */
public final class WholeFile implements AutoCloseable {

    private final Path target;
    private final Path draft;

    private WholeFile(Path target, Path draft) {
        this.target = target;
        this.draft = draft;
    }

    /**
     * Prepares to write a file; one that is there already stays until the commit.
     *
     * @throws IOException where the directory cannot be written to
     */
    public static WholeFile create(Path target) throws IOException {
        Path path = target.toAbsolutePath();
        long process = ProcessHandle.current().pid();
        Path draft = path.resolveSibling("." + path.getFileName() + "." + process + ".draft");
        Files.newOutputStream(draft).close();
        draft.toFile().deleteOnExit();
        return new WholeFile(path, draft);
    }

    /** Where the file is written until the commit, for writers that take no stream. */
    public Path draft() {
        return draft;
    }

    /** The stream to write to, to be closed before the commit. */
    public OutputStream open() throws IOException {
        return Files.newOutputStream(draft);
    }

    /** Moves the file to its path, where it replaces one that was there. */
    public void commit() throws IOException {
        Files.move(
                draft, target, StandardCopyOption.ATOMIC_MOVE, StandardCopyOption.REPLACE_EXISTING);
    }

    @Override
    public void close() throws IOException {
        Files.deleteIfExists(draft);
    }
}
