// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.symmetric.MatchIndex;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An index in the memory of a GPU. Kernels read keys from pinned memory, and write matches there,
 * so that a chunk costs a few launches and one wait.
 *
 * <p>The slots of the keys are moved to new ones when they are too full; keys without rows are
 * dropped then. Links grow to twice their size.
 */
final class GpuMatchIndex implements MatchIndex {

    /** Matches of the buffer of a chunk at first: 256 KiB. */
    static final int MATCH_CAPACITY = 1 << 16;

    private static final int INPUTS = 2;

    private final MatchDevice device;
    private final MatchProbe probe;
    private final MatchLinks[] links = new MatchLinks[INPUTS];
    private final HeavyKeys[] heavyKeys = new HeavyKeys[INPUTS];
    private final MatchRows added;
    private final MatchRows removed;
    private final boolean removesRows;

    /** Two descriptors and a counter. */
    private final BulkMemory fixed;

    private final long descriptor;
    private final long nextDescriptor;
    private final long counter;

    private MatchSlots slots;

    /** Slots with a key, or more. */
    private long maxUsed;

    private boolean isDescriptorStale = true;
    private boolean isClosed;

    // For each removal: its slot, 8 bytes, then the next one of the slot, 4 bytes.
    private @Nullable BulkMemory removalMemory;
    private long removalAddress;
    private int removalCapacity;

    // The rows that are looked up.
    private int probedInput;

    /** Of each row whose key was heavy; empty if none was. */
    private HeavyKeys.@Nullable Rows[] heavyRows = {};

    private boolean hasHeavyRows;

    // The row whose matches are read.
    private HeavyKeys.@Nullable Rows heavy;
    private long matches;

    /**
     * @param device closed by {@link #close}, and here if the constructor fails
     * @param removesRows for each input whether rows leave it
     * @param limits of the memory
     * @param matchCapacity matches of the buffer of a chunk at first
     */
    GpuMatchIndex(
            BulkDevice device, List<Boolean> removesRows, MemoryLimits limits, int matchCapacity) {
        this.device = new MatchDevice(device);
        this.removesRows = removesRows.contains(true);
        try {
            this.fixed = device.newMemory();
            this.descriptor = fixed.allocate(2L * MatchDescriptor.BYTES + Long.BYTES);
            this.nextDescriptor = descriptor + MatchDescriptor.BYTES;
            this.counter = nextDescriptor + MatchDescriptor.BYTES;
            for (int input = 0; input < INPUTS; input++) {
                links[input] = new MatchLinks(this.device, removesRows.get(input));
                heavyKeys[input] =
                        new HeavyKeys(
                                bytes -> {
                                    if (bytes < 0) {
                                        limits.hostMemory().release(-bytes);
                                    } else {
                                        limits.reserveHost(bytes);
                                    }
                                });
            }
            this.added = new MatchRows(this.device);
            this.removed = new MatchRows(this.device);
            this.slots = new MatchSlots(this.device, MatchSlots.MIN_SLOTS, this.removesRows);
            this.probe = new MatchProbe(this.device, matchCapacity);
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    // ------------------------------------------------------------------ memory

    @Override
    public void reserve(int input, int lastId) {
        isDescriptorStale |= links[input].reserve(lastId + 1L);
    }

    private void refreshDescriptor() {
        if (isDescriptorStale) {
            writeDescriptor(descriptor, slots);
            isDescriptorStale = false;
        }
    }

    private void writeDescriptor(long address, MatchSlots of) {
        device.write(
                address,
                of.address(),
                of.slotCount() - 1,
                SlotHash.SEED,
                SlotHash.MULTIPLIER,
                of.usedAddress(),
                of.pendingAddress(),
                links[0].nextAddress(),
                links[1].nextAddress(),
                links[0].previousAddress(),
                links[1].previousAddress());
    }

    /** Makes room for some keys. */
    private void makeRoom(int keys) {
        if (maxUsed + keys > slots.maxKeys()) {
            maxUsed = device.read(slots.usedAddress());
            // Each read counts on many additions until the next one.
            if (maxUsed + keys > slots.maxKeys() - slots.slotCount() / 16) {
                moveSlots(keys);
            }
        }
        maxUsed += keys;
    }

    private void moveSlots(int keys) {
        refreshDescriptor();
        device.clear(counter, Long.BYTES);
        device.launch("gpujoin_match_count_slots", slots.slotCount() + 1, descriptor, counter);
        long live = device.read(counter);
        MatchSlots target = new MatchSlots(device, MatchSlots.slotsFor(live + keys), removesRows);
        try {
            writeDescriptor(nextDescriptor, target);
            long launch =
                    device.launch(
                            "gpujoin_match_move_slots",
                            slots.slotCount() + 1,
                            descriptor,
                            nextDescriptor);
            device.await(launch);
        } catch (Throwable e) {
            target.close();
            throw e;
        }
        slots.close();
        slots = target;
        maxUsed = live;
        isDescriptorStale = true;
    }

    // ------------------------------------------------------------------ changes

    @Override
    public void add(int input, long[] keys, int[] ids, int count) {
        makeRoom(count);
        heavyKeys[input].add(keys, ids, count);
        added.write(keys, ids, count);
        addWritten(input, added, count);
    }

    private void addWritten(int input, MatchRows rows, int count) {
        refreshDescriptor();
        rows.usedBy(
                device.launch(
                        "gpujoin_match_add",
                        count,
                        descriptor,
                        input,
                        rows.keysAddress(),
                        rows.linksAddress(),
                        count));
    }

    @Override
    public void remove(int input, long[] keys, int[] ids, int count) {
        heavyKeys[input].remove(keys, ids, count);
        removed.write(keys, ids, count);
        reserveRemovals();
        refreshDescriptor();
        long next = removalAddress + (long) Long.BYTES * removalCapacity;
        device.launch(
                "gpujoin_match_claim_removals",
                count,
                descriptor,
                removed.keysAddress(),
                removed.linksAddress(),
                removalAddress,
                next,
                count);
        removed.usedBy(
                device.launch(
                        "gpujoin_match_settle_removals",
                        count,
                        descriptor,
                        input,
                        removed.keysAddress(),
                        removed.linksAddress(),
                        removalAddress,
                        next,
                        count));
    }

    /** No kernel uses the memory, since the removals before have ended. */
    private void reserveRemovals() {
        if (removed.capacity() > removalCapacity) {
            if (removalMemory != null) {
                removalMemory.close();
                removalMemory = null;
                removalCapacity = 0;
            }
            removalMemory = device.newMemory();
            removalAddress =
                    removalMemory.allocate(
                            (long) (Long.BYTES + Integer.BYTES) * removed.capacity());
            removalCapacity = removed.capacity();
        }
    }

    // ------------------------------------------------------------------ lookups

    @Override
    public void probe(int input, long[] keys, int[] ids, int count, boolean adds) {
        probedInput = 1 - input;
        if (adds) {
            makeRoom(count);
            heavyKeys[input].add(keys, ids, count);
        }
        MatchRows rows = probe.rows();
        rows.write(keys, ids, count);
        findHeavyRows(keys, ids, count);
        refreshDescriptor();
        probe.start(descriptor, probedInput, count);
        if (adds) {
            if (hasHeavyRows) {
                added.write(keys, ids, count);
            }
            addWritten(input, hasHeavyRows ? added : rows, count);
        }
    }

    private void findHeavyRows(long[] keys, int[] ids, int count) {
        hasHeavyRows = false;
        if (heavyKeys[probedInput].isEmpty()) {
            return;
        }
        heavyRows = new HeavyKeys.Rows[count];
        for (int row = 0; row < count; row++) {
            HeavyKeys.Rows found = ids[row] == 0 ? null : heavyKeys[probedInput].of(keys[row]);
            if (found != null) {
                heavyRows[row] = found;
                hasHeavyRows = true;
                probe.rows().skip(row);
            }
        }
    }

    @Override
    public int matches(int row) {
        heavy = hasHeavyRows ? heavyRows[row] : null;
        if (heavy != null) {
            return heavy.count();
        }
        int count = probe.count(row);
        if (count > HeavyKeys.HEAVY_ROWS) {
            heavy = makeHeavy(row, count);
            return heavy.count();
        }
        if (count > 0) {
            matches = probe.matches(row);
        }
        return count;
    }

    private HeavyKeys.Rows makeHeavy(int row, int count) {
        long key = probe.rows().key(row);
        HeavyKeys.Rows known = heavyKeys[probedInput].of(key);
        if (known != null) {
            // An earlier row of the chunk has the same key.
            return known;
        }
        int[] ids = new int[count];
        long address = probe.matches(row);
        Memory.copy(null, address, ids, Memory.INTS, (long) Integer.BYTES * count);
        return heavyKeys[probedInput].put(key, ids);
    }

    @Override
    public int match(int number) {
        return heavy == null
                ? Memory.getInt(matches + (long) Integer.BYTES * number)
                : heavy.id(number);
    }

    // ------------------------------------------------------------------ end

    @Override
    public long memoryBytes() {
        return device.memoryBytes() + heavyKeys[0].memoryBytes() + heavyKeys[1].memoryBytes();
    }

    @Override
    public void close() {
        if (!isClosed) {
            isClosed = true;
            heavyKeys[0].clear();
            heavyKeys[1].clear();
            device.close();
        }
    }
}
