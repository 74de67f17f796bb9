// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.SuppressRestartsException;

/**
 * Managed memory for the slots into which others write chunks for one subtask of the join: those of
 * rings, and those of local exchange. Rings are mapped outside the heap. The reader creates them
 * and touches their pages first, so its process is charged for them.
 */
public final class RingMemory implements AutoCloseable {

    /** Optional slots take at most the inverse of this number of a share. */
    private static final int MIN_SHARE_OF_TABLES = 8;

    private final SlotMemory slot;
    private final long lengthBytes;
    private boolean isClosed;

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

    /**
     * Reserves memory in the subtask's share if it is a small part of it, so that the tables keep
     * the rest.
     *
     * @param lengthBytes of all slots
     * @return memory of no bytes if that is not possible
     */
    public static RingMemory tryReserve(SlotMemory slot, long lengthBytes) {
        if (lengthBytes > slot.limitBytes() / MIN_SHARE_OF_TABLES) {
            return new RingMemory(slot, 0);
        }
        RingMemory memory = new RingMemory(slot, slot.reserveUpTo(lengthBytes));
        if (memory.lengthBytes < lengthBytes) {
            memory.close();
            return new RingMemory(slot, 0);
        }
        return memory;
    }

    public long lengthBytes() {
        return lengthBytes;
    }

    /** To be called after the slots are closed; a second call has no effect. */
    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            slot.releaseUpTo(lengthBytes);
        }
    }
}
