// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryReservationException;
import org.apache.flink.streaming.api.graph.StreamConfig;

/**
 * Reserves Flink's managed memory of a slot, up to one subtask's limit for its tables or its rings.
 *
 * <p>Thread-safe: rings that several subtasks share are released by the last of them, in whose
 * share they need not be. {@link JoinMemory} guards decisions about the memory of tables.
 */
public final class SlotMemory {

    private final MemoryManager manager;
    private final long limitBytes;

    /** Guarded by this. */
    private long reservedBytes;

    /**
     * Creates a share of which nothing is reserved.
     *
     * @param manager managed memory of the slot, which other operators reserve too
     * @param limitBytes maximum of this share's reservations
     */
    SlotMemory(MemoryManager manager, long limitBytes) {
        this.manager = manager;
        this.limitBytes = limitBytes;
    }

    /**
     * Returns the share that Flink planned for the operator; its limit is 0 if Flink planned none.
     */
    public static SlotMemory of(Environment environment, StreamConfig operator) {
        double fraction =
                operator.getManagedMemoryFractionOperatorUseCaseOfSlot(
                        ManagedMemoryUseCase.OPERATOR,
                        environment.getJobConfiguration(),
                        environment.getTaskManagerInfo().getConfiguration(),
                        environment.getUserCodeClassLoader().asClassLoader());
        MemoryManager manager = environment.getMemoryManager();
        long shareBytes = fraction > 0 ? manager.computeMemorySize(fraction) : 0;
        return new SlotMemory(manager, shareBytes);
    }

    /**
     * Returns a share for tables, with reservations of its own. Its limit is this share's limit
     * without the rings and slots.
     *
     * @param slotBytes bytes of the rings and slots
     * @param capBytes maximum of the new limit
     */
    public SlotMemory forTables(long slotBytes, long capBytes) {
        return new SlotMemory(manager, Math.min(capBytes, limitBytes - slotBytes));
    }

    long limitBytes() {
        return limitBytes;
    }

    synchronized long reservedBytes() {
        return reservedBytes;
    }

    /** Returns how much can be reserved now, other reservations of the slot considered. */
    synchronized long availableBytes() {
        return Math.max(0, Math.min(limitBytes - reservedBytes, manager.availableMemory()));
    }

    /** Reserves up to {@code lengthBytes}; returns the newly reserved bytes, 0 if none are left. */
    synchronized long reserveUpTo(long lengthBytes) {
        long bytes = Math.min(lengthBytes, availableBytes());
        try {
            manager.reserveMemory(this, bytes);
        } catch (MemoryReservationException e) {
            return 0; // another operator of the slot reserved it first
        }
        reservedBytes += bytes;
        return bytes;
    }

    /** Releases up to {@code lengthBytes}; returns the released bytes. */
    synchronized long releaseUpTo(long lengthBytes) {
        long bytes = Math.min(lengthBytes, reservedBytes);
        reservedBytes -= bytes;
        // Flink frees the slot of a finished subtask while others still use tables charged to it.
        if (!manager.isShutdown()) {
            manager.releaseMemory(this, bytes);
        }
        return bytes;
    }
}
