// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.OptionalLong;

/**
 * Files of one folder by which the tasks of a job, in their processes, tell the process that
 * watches them where they are. A marker is there or not, and may hold a number. Thread-safe.
 */
final class Markers implements Serializable {

    private static final long serialVersionUID = 1L;

    private final String folder;

    /** The folder is there already. */
    Markers(Path folder) {
        this.folder = folder.toString();
    }

    void set(String name, long value) {
        try {
            // Moved to its place, so that a reader finds no half of it.
            Path whole = Files.createTempFile(Path.of(folder), ".", "");
            Files.writeString(whole, String.valueOf(value));
            Files.move(whole, file(name), StandardCopyOption.ATOMIC_MOVE);
        } catch (NoSuchFileException e) {
            // The run is over and its folder gone: this task outlived a pause.
            return;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    OptionalLong get(String name) {
        try {
            return OptionalLong.of(Long.parseLong(Files.readString(file(name))));
        } catch (NoSuchFileException e) {
            return OptionalLong.empty();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    boolean isSet(String name) {
        return Files.exists(file(name));
    }

    void clear(String name) {
        try {
            Files.deleteIfExists(file(name));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private Path file(String name) {
        return Path.of(folder, name);
    }
}
