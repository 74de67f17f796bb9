// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Managed memory for the rings into one subtask of the join. Rings are mapped outside the heap. The
 * reader creates them and touches their pages first, so its process is charged for them.
 */
public final class RingMemory implements AutoCloseable {

    private final SlotMemory slot;
    private final long lengthBytes;

    private RingMemory(SlotMemory slot, long lengthBytes) {
        this.slot = slot;
        this.lengthBytes = lengthBytes;
    }

    /**
     * Reserves memory in the subtask's share, before the rings are created.
     *
     * @param slot share for rings only, apart from the share for tables
     * @param lengthBytes of all rings
     * @throws SuppressRestartsException if the share is too small, since a restart would need as
     *     much
     */
    public static RingMemory reserve(SlotMemory slot, long lengthBytes) {
        long availableBytes = slot.availableBytes();
        long reservedBytes = slot.reserveUpTo(lengthBytes);
        RingMemory memory = new RingMemory(slot, reservedBytes);
        if (reservedBytes < lengthBytes) {
            memory.close();
            throw new SuppressRestartsException(
                    new IllegalConfigurationException(
                            "Rings into a subtask do not fit its managed memory: neededBytes=%d, availableBytes=%d.\nRaise"
                                    + " %s, lower %s or %s, or set %s: flink.",
                            lengthBytes,
                            availableBytes,
                            TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
                            GpuJoinOptions.RING_SLOTS.key(),
                            GpuJoinOptions.CHUNK_BYTES.key(),
                            GpuJoinOptions.TRANSPORT.key()));
        }
        return memory;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** To be called after the rings are closed; may be called twice. */
    @Override
    public void close() {
        slot.releaseUpTo(lengthBytes);
    }
}
