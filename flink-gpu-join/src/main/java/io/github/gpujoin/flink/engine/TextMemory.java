// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import org.apache.flink.configuration.TaskManagerOptions;

/**
 * Bounds the Java heap that texts of groups use. Managed memory is off-heap and does not bound
 * them.
 *
 * <p>All joins share {@link #SHARED}: in the whole process if Flink's {@code lib/} contains this
 * class, otherwise those of a job, whose class loader has its own. Thread-safe.
 */
final class TextMemory implements MemoryReservations {

    /** Share of the heap for texts. The rest is for Flink, chunks and user code. */
    static final double HEAP_FRACTION = 0.25;

    /** Memory for the texts of all joins. */
    static final TextMemory SHARED =
            new TextMemory((long) (HEAP_FRACTION * Runtime.getRuntime().maxMemory()));

    private final long limitBytes;
    private long usedBytes;

    TextMemory(long limitBytes) {
        this.limitBytes = limitBytes;
    }

    @Override
    public synchronized void reserve(long lengthBytes) {
        if (lengthBytes > availableBytes()) {
            throw new MemoryRefusedException(
                    "Texts of groups exceed their share of the Java heap: neededBytes=%d, usedBytes=%d, limitBytes=%d. Raise %s, or group by a column with fewer values."
                            .formatted(
                                    lengthBytes,
                                    usedBytes,
                                    limitBytes,
                                    TaskManagerOptions.TASK_HEAP_MEMORY.key()),
                    null);
        }
        usedBytes += lengthBytes;
    }

    @Override
    public synchronized void release(long lengthBytes) {
        usedBytes -= lengthBytes;
    }

    @Override
    public synchronized long availableBytes() {
        return limitBytes - usedBytes;
    }
}
