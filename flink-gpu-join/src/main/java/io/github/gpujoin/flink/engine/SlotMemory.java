// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.memory.MemoryManager;
import org.apache.flink.runtime.memory.MemoryReservationException;
import org.apache.flink.streaming.api.graph.StreamConfig;

/**
 * One subtask's share of the managed memory of its slot. Guarded by the {@link JoinMemory} that it
 * is part of.
 */
public final class SlotMemory {

    private final MemoryManager manager;
    private final long limitBytes;
    private long reservedBytes;

    /**
     * @param limitBytes limit of the subtask's reservations of the manager's memory
     */
    SlotMemory(MemoryManager manager, long limitBytes) {
        this.manager = manager;
        this.limitBytes = limitBytes;
    }

    /** The share that Flink planned for the operator; empty if it planned none. */
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
     * The part of this share that rings do not use.
     *
     * @param capBytes limit of the part
     */
    public SlotMemory forTables(long ringBytes, long capBytes) {
        return new SlotMemory(manager, Math.min(capBytes, limitBytes - ringBytes));
    }

    long limitBytes() {
        return limitBytes;
    }

    long reservedBytes() {
        return reservedBytes;
    }

    long availableBytes() {
        return Math.max(0, Math.min(limitBytes - reservedBytes, manager.availableMemory()));
    }

    /** Reserves at most {@code lengthBytes}, and returns the reserved bytes. */
    long reserveUpTo(long lengthBytes) {
        long bytes = Math.min(lengthBytes, availableBytes());
        try {
            manager.reserveMemory(this, bytes);
        } catch (MemoryReservationException e) {
            return 0; // another operator of the slot reserved it first
        }
        reservedBytes += bytes;
        return bytes;
    }

    /** Releases at most {@code lengthBytes}, and returns the released bytes. */
    long releaseUpTo(long lengthBytes) {
        long bytes = Math.min(lengthBytes, reservedBytes);
        reservedBytes -= bytes;
        // Flink frees the slot of a finished subtask while others still use tables charged to it.
        if (!manager.isShutdown()) {
            manager.releaseMemory(this, bytes);
        }
        return bytes;
    }
}
