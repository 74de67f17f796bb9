// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import java.io.File;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.execution.Environment;

/** Flink's directories for files of rows that exceed memory, in turn. Thread-safe. */
final class SpillDirectories {

    private static final AtomicInteger NEXT = new AtomicInteger();

    private SpillDirectories() {}

    /** Returns a directory, which Flink deletes when the TaskManager ends. */
    static Path next(Environment task) {
        File[] directories = task.getIOManager().getSpillingDirectories();
        return directories[Math.floorMod(NEXT.getAndIncrement(), directories.length)].toPath();
    }
}
