package io.github.gpujoin.flink.transport;

import io.github.gpujoin.flink.config.GpuJoinOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Off-heap memory for the registered buffers of one sending subtask. All senders of a process
 * together stay within the off-heap memory of its tasks, which a TaskManager counts as part of its
 * process. A cluster inside another process has no such limit. Thread-safe.
 */
final class SenderBuffers implements AutoCloseable {

    private static final Object LOCK = new Object();
    private static long reservedBytes;

    private long lengthBytes;

    private SenderBuffers(long lengthBytes) {
        this.lengthBytes = lengthBytes;
    }

    /**
     * Reserves memory before buffers are registered.
     *
     * @param taskManager configuration of the process
     * @throws SuppressRestartsException if it does not fit: a restart would need as much
     */
    static SenderBuffers reserve(long lengthBytes, Configuration taskManager) {
        long limitBytes =
                taskManager
                        .getOptional(TaskManagerOptions.TASK_OFF_HEAP_MEMORY)
                        .map(MemorySize::getBytes)
                        .orElse(Long.MAX_VALUE);
        synchronized (LOCK) {
            if (lengthBytes > limitBytes - reservedBytes) {
                throw new SuppressRestartsException(
                        new IllegalConfigurationException(
                                "Registered buffers of a sender do not fit: neededBytes=%d, usedBytes=%d, %s=%d.\nRaise"
                                        + " that option, lower %s or %s, or set %s: %s.",
                                lengthBytes,
                                reservedBytes,
                                TaskManagerOptions.TASK_OFF_HEAP_MEMORY.key(),
                                limitBytes,
                                GpuJoinOptions.RING_SLOTS.key(),
                                GpuJoinOptions.CHUNK_BYTES.key(),
                                GpuJoinOptions.TRANSPORT.key(),
                                RingOptions.FLINK));
            }
            reservedBytes += lengthBytes;
        }
        return new SenderBuffers(lengthBytes);
    }

    /** To be called after the buffers are freed; legal twice. */
    @Override
    public void close() {
        synchronized (LOCK) {
            reservedBytes -= lengthBytes;
            lengthBytes = 0;
        }
    }
}
