// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Reservation of off-heap memory for the registered buffers of one sending subtask. All senders of
 * a process together stay within the TaskManager's task off-heap memory. A local cluster without
 * that option has no limit. Thread-safe.
 *
 * <p>A system property holds the sum. Flink loads each job with its own class loader, and system
 * properties are the one map that the class loaders of a process share.
 */
final class SenderBuffers implements AutoCloseable {

    private static final String RESERVED_BYTES = "io.github.gpujoin.sender-buffers.bytes";

    private final AtomicLong lengthBytes;

    private SenderBuffers(long lengthBytes) {
        this.lengthBytes = new AtomicLong(lengthBytes);
    }

    /**
     * Reserves memory. Callers register buffers only after that.
     *
     * @param taskManager configuration of the process
     * @throws SuppressRestartsException if the limit is exceeded, as a restart would need as much
     *     memory
     */
    static SenderBuffers reserve(long lengthBytes, Configuration taskManager) {
        SenderBuffers reserved = tryReserve(lengthBytes, taskManager);
        if (reserved == null) {
            throw refusal(lengthBytes, limitBytes(taskManager));
        }
        return reserved;
    }

    /** Does the same, but returns null if the limit is exceeded. */
    static @Nullable SenderBuffers tryReserve(long lengthBytes, Configuration taskManager) {
        return tryAdd(lengthBytes, limitBytes(taskManager)) ? new SenderBuffers(lengthBytes) : null;
    }

    private static long limitBytes(Configuration taskManager) {
        return taskManager
                .getOptional(TaskManagerOptions.TASK_OFF_HEAP_MEMORY)
                .map(MemorySize::getBytes)
                .orElse(Long.MAX_VALUE);
    }

    private static boolean tryAdd(long lengthBytes, long limitBytes) {
        AtomicBoolean isAdded = new AtomicBoolean();
        System.getProperties()
                .compute(
                        RESERVED_BYTES,
                        (name, reserved) -> {
                            long reservedBytes =
                                    reserved == null ? 0 : Long.parseLong((String) reserved);
                            isAdded.set(lengthBytes <= limitBytes - reservedBytes);
                            if (!isAdded.get()) {
                                return reserved;
                            }
                            long sumBytes = reservedBytes + lengthBytes;
                            return sumBytes == 0 ? null : String.valueOf(sumBytes);
                        });
        return isAdded.get();
    }

    private static SuppressRestartsException refusal(long lengthBytes, long limitBytes) {
        long reservedBytes = Long.parseLong(System.getProperty(RESERVED_BYTES, "0"));
        return new SuppressRestartsException(
                new IllegalConfigurationException(
                        "Registered buffers of a sender do not fit:"
                                + " neededBytes=%d, usedBytes=%d, %s=%d.\n"
                                + "Raise that option, lower %s or %s, or set %s: %s.",
                        lengthBytes,
                        reservedBytes,
                        TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key(),
                        limitBytes,
                        GpuJoinOptions.RING_SLOTS.key(),
                        GpuJoinOptions.CHUNK_BYTES.key(),
                        GpuJoinOptions.TRANSPORT.key(),
                        RingOptions.FLINK));
    }

    /** Ends the reservation. Callers free the buffers before that. Idempotent. */
    @Override
    public void close() {
        tryAdd(-lengthBytes.getAndSet(0), Long.MAX_VALUE);
    }
}
