// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.soak;

import io.github.gpujoin.core.region.Region;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Memory of this process at one moment.
 *
 * @param heapBytes live objects: the heap in use after a collection
 * @param regionBytes off-heap memory in open regions
 * @param residentBytes what the operating system counts, 0 where it does not tell
 */
public record MemorySample(long heapBytes, long regionBytes, long residentBytes) {

    /** Collects garbage and takes a sample. */
    public static MemorySample take() throws IOException {
        System.gc();
        Runtime runtime = Runtime.getRuntime();
        return new MemorySample(
                runtime.totalMemory() - runtime.freeMemory(),
                Region.openBytes(),
                residentBytes("self"));
    }

    /**
     * Returns the resident set of a process in bytes, 0 if the operating system does not report it.
     *
     * @param process number of the process, or {@code self}
     */
    public static long residentBytes(String process) throws IOException {
        Path status = Path.of("/proc", process, "status");
        if (!Files.exists(status)) {
            return 0;
        }
        try (Stream<String> lines = Files.lines(status)) {
            return lines.filter(line -> line.startsWith("VmRSS:"))
                    .mapToLong(line -> 1024 * Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        }
    }
}
