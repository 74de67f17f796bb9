// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.flink.configuration.TaskManagerOptions;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Managed memory for the tables of one join: the share of one subtask, or of all subtasks of a
 * TaskManager that share their tables. Memory is reserved in portions, from the first slot with
 * room. The codes of text groups belong to the same tables; {@link TextMemory} bounds their texts.
 *
 * <p>Each slot has its own memory manager, also across jobs, so all joins of a process together
 * stay within its managed memory. If a subtask closes while others use tables charged to its slot,
 * the charge moves to their slots. Bytes that do not fit there stay charged to the old slot until
 * Flink frees it.
 */
final class JoinMemory implements MemoryReservations {

    static final long PORTION_BYTES = 1 << 20;

    private static final Logger LOG = LoggerFactory.getLogger(JoinMemory.class);

    /**
     * Memory of joins whose subtasks share tables, each with at least one slot. Guarded by itself.
     */
    private static final Map<SharedTables.Scope, JoinMemory> SHARED = new HashMap<>();

    private final List<SlotMemory> slots = new ArrayList<>();

    /** Slots of closed subtasks to which tables of others are still charged. */
    private final List<SlotMemory> leftSlots = new ArrayList<>();

    /** Null before their first use, and after the last subtask has left. */
    private @Nullable GroupCodes groupCodes;

    private long usedBytes;
    private long reservedBytes;

    /**
     * A subtask's part of the memory; closed after its engine.
     *
     * @param scope null if the subtask shares no tables
     */
    record Part(JoinMemory memory, SlotMemory slot, SharedTables.@Nullable Scope scope)
            implements AutoCloseable {

        @Override
        public void close() {
            synchronized (SHARED) {
                memory.leave(slot);
                if (scope != null && memory.slots.isEmpty()) {
                    SHARED.remove(scope, memory);
                }
            }
        }
    }

    /** Memory for one subtask's own tables. */
    static Part own(SlotMemory slot) {
        JoinMemory memory = new JoinMemory();
        memory.enter(slot);
        return new Part(memory, slot, null);
    }

    /** Memory for tables that the subtasks of an operator share. */
    static Part shared(SharedTables.Scope scope, SlotMemory slot) {
        synchronized (SHARED) {
            JoinMemory memory = SHARED.computeIfAbsent(scope, s -> new JoinMemory());
            memory.enter(slot);
            return new Part(memory, slot, scope);
        }
    }

    /**
     * Returns the codes of text groups in these tables. They are closed when the last subtask
     * leaves.
     */
    synchronized GroupCodes groupCodes(JoinSpec spec) {
        if (groupCodes == null) {
            groupCodes = new GroupCodes(spec, TextMemory.SHARED);
        }
        return groupCodes;
    }

    private synchronized void enter(SlotMemory slot) {
        slots.add(slot);
    }

    @Override
    public synchronized void reserve(long lengthBytes) {
        long missing = usedBytes + lengthBytes - reservedBytes;
        if (missing > 0) {
            long wanted = (missing + PORTION_BYTES - 1) / PORTION_BYTES * PORTION_BYTES;
            long granted = reserveInSlots(wanted);
            reservedBytes += granted;
            if (granted < missing) {
                trim(0);
                throw new MemoryRefusedException(refusal(lengthBytes), null);
            }
        }
        usedBytes += lengthBytes;
    }

    private long reserveInSlots(long lengthBytes) {
        long granted = 0;
        for (SlotMemory slot : slots) {
            granted += slot.reserveUpTo(lengthBytes - granted);
        }
        return granted;
    }

    private String refusal(long lengthBytes) {
        return "No managed memory is left for the join's tables: neededBytes=%d, usedBytes=%d, limitBytes=%d, slots=%d. Raise %s (and %s if set), or partition the dimension with .partitioned()."
                .formatted(
                        lengthBytes,
                        usedBytes,
                        slots.stream().mapToLong(SlotMemory::limitBytes).sum(),
                        slots.size(),
                        TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
                        GpuJoinOptions.CPU_MEMORY.key());
    }

    @Override
    public synchronized void release(long lengthBytes) {
        usedBytes -= lengthBytes;
        if (slots.isEmpty()) {
            trim(0); // nobody reserves from here again
        } else if (reservedBytes - usedBytes >= 2 * PORTION_BYTES) {
            trim(PORTION_BYTES);
        }
    }

    /** Releases reserved memory that is not used, except for {@code keptBytes}. */
    private void trim(long keptBytes) {
        for (SlotMemory slot : leftSlots) {
            reservedBytes -= slot.releaseUpTo(excess(keptBytes));
        }
        leftSlots.removeIf(slot -> slot.reservedBytes() == 0);
        for (int i = slots.size() - 1; i >= 0; i--) {
            reservedBytes -= slots.get(i).releaseUpTo(excess(keptBytes));
        }
    }

    private long excess(long keptBytes) {
        return Math.max(0, reservedBytes - usedBytes - keptBytes);
    }

    @Override
    public synchronized long availableBytes() {
        long inSlots = slots.stream().mapToLong(SlotMemory::availableBytes).sum();
        return inSlots + reservedBytes - usedBytes;
    }

    private synchronized void leave(SlotMemory slot) {
        if (!slots.remove(slot)) {
            return; // closed before
        }
        leftSlots.add(slot);
        if (slots.isEmpty() && groupCodes != null) {
            groupCodes.close();
            groupCodes = null;
        }
        trim(0);
        slot.releaseUpTo(reserveInSlots(slot.reservedBytes()));
        leftSlots.removeIf(left -> left.reservedBytes() == 0);
        if (slot.reservedBytes() > 0) {
            LOG.info(
                    "Tables of running subtasks stay charged to the slot of a subtask that has"
                            + " ended: bytes={}",
                    slot.reservedBytes());
        }
    }
}
