// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import com.sun.management.OperatingSystemMXBean;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;

/**
 * Processor time of the process in nanoseconds, without the threads that compile Java: a short job
 * would otherwise seem to cost more than a long one. Threads of Flink and of the garbage collector
 * count. Without Linux' {@code /proc}, compilers count, too.
 */
public final class CpuClock {

    private static final OperatingSystemMXBean OS =
            (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
    private static final Path THREADS = Path.of("/proc/self/task");

    private CpuClock() {}

    /** Returns the processor time that this process has used, in nanoseconds. */
    public static long nowNs() {
        return OS.getProcessCpuTime() - compilersNs();
    }

    private static long compilersNs() {
        if (!Files.isDirectory(THREADS)) {
            return 0;
        }
        try (Stream<Path> threads = Files.list(THREADS)) {
            return threads.mapToLong(CpuClock::compilerNs).sum();
        } catch (IOException e) {
            return 0;
        }
    }

    private static long compilerNs(Path thread) {
        try {
            String name = Files.readString(thread.resolve("comm"));
            if (!name.startsWith("C1 Compiler") && !name.startsWith("C2 Compiler")) {
                return 0;
            }
            String runWaitSlices = Files.readString(thread.resolve("schedstat"));
            return Long.parseLong(runWaitSlices.substring(0, runWaitSlices.indexOf(' ')));
        } catch (IOException e) {
            return 0; // The thread has ended.
        }
    }
}
