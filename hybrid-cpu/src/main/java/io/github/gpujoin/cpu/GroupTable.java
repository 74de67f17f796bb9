// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.Aggregation;
import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/**
 * Aggregates result batches by group, with one loop over the batch for each step. Not thread-safe.
 *
 * <p>All memory is allocated at the start, for the largest number of groups that the aggregation
 * allows and one batch more, so that a batch never stops half way.
 *
 * <pre>
 *  slots:  int32[slotCount]           number of the group + 1, 0 if free; open addressing
 *  groups: { int64 groupColumn[]; int64 aggregate[] } [capacity]      in order of first appearance
 * </pre>
 *
 * @param <B> type of the batches
 */
public final class GroupTable<B> {

    private final Aggregation aggregation;
    private final List<LongColumn<B>> groupColumns;
    private final List<Summation<B>> sums;
    private final int slotCount;
    private final long slots;
    private final long groups;
    private final long groupBytes;
    private final long keysBytes;
    private final long[] keys;
    private final long hashes;
    private final long found;
    private int groupCount;

    /**
     * @param columns creates a reader of a column of the batches
     * @param batchRows limit of the rows of a batch
     * @param memory outlives this object
     */
    public GroupTable(
            Aggregation aggregation,
            Function<JoinColumn, LongColumn<B>> columns,
            int batchRows,
            PagedMemory memory) {
        this.aggregation = aggregation;
        this.groupColumns = aggregation.groupColumns().stream().map(columns).toList();
        this.sums =
                aggregation.aggregates().stream()
                        .map(aggregate -> new Summation<>(aggregate, columns))
                        .toList();
        int capacity = aggregation.maxGroups() + batchRows;
        this.slotCount = 2 * capacity;
        this.slots = memory.allocate(4L * slotCount);
        this.groupBytes = 8L * aggregation.groupWidth();
        this.keysBytes = 8L * groupColumns.size();
        this.groups = memory.allocate(groupBytes * capacity);
        this.keys = new long[groupColumns.size()];
        this.hashes = memory.allocate(8L * batchRows);
        this.found = memory.allocate(8L * batchRows);
        clear();
    }

    private void clear() {
        groupCount = 0;
        Memory.fill(null, slots, 4L * slotCount, (byte) 0);
    }

    /** Returns whether the next batch may not fit. */
    public boolean isFull() {
        return groupCount >= aggregation.maxGroups();
    }

    /**
     * Adds the first rows of a batch. The table must not be full.
     *
     * @param count at most the limit of a batch
     */
    public void add(B batch, int count) {
        if (count == 0) {
            return;
        }
        if (groupColumns.isEmpty()) {
            long total = groupCount == 0 ? insert(0) : groups;
            for (int a = 0; a < sums.size(); a++) {
                sums.get(a).addAll(batch, count, total + 8L * a);
            }
            return;
        }
        for (int c = 0; c < keys.length; c++) {
            keys[c] = groupColumns.get(c).load(batch);
        }
        hashKeys(count);
        find(count);
        for (int a = 0; a < sums.size(); a++) {
            sums.get(a).add(batch, count, found, keysBytes + 8L * a);
        }
    }

    private void hashKeys(int count) {
        for (int c = 0; c < keys.length; c++) {
            long column = keys[c];
            for (int i = 0; i < count; i++) {
                long before = c == 0 ? 0 : Memory.getLong(hashes + 8L * i);
                long hash = SlotHash.hash(before + Memory.getLong(column + 8L * i));
                Memory.putLong(hashes + 8L * i, hash);
            }
        }
    }

    /** Finds the address of the group of each row. */
    private void find(int count) {
        for (int i = 0; i < count; i++) {
            int slot = SlotHash.slot(Memory.getLong(hashes + 8L * i), slotCount);
            long group = 0;
            while (group == 0) {
                int number = Memory.getInt(slots + 4L * slot);
                if (number == 0) {
                    group = insert(i);
                    Memory.putInt(slots + 4L * slot, groupCount);
                } else {
                    long at = groups + (number - 1) * groupBytes;
                    group = hasKeys(at, i) ? at : 0;
                    slot = slot + 1 == slotCount ? 0 : slot + 1;
                }
            }
            Memory.putLong(found + 8L * i, group);
        }
    }

    private boolean hasKeys(long group, int row) {
        for (int c = 0; c < keys.length; c++) {
            if (Memory.getLong(group + 8L * c) != Memory.getLong(keys[c] + 8L * row)) {
                return false;
            }
        }
        return true;
    }

    /** Creates the group of a row, with sums of 0, and returns its address. */
    private long insert(int row) {
        long group = groups + groupBytes * groupCount++;
        Memory.fill(null, group, groupBytes, (byte) 0);
        for (int c = 0; c < keys.length; c++) {
            Memory.putLong(group + 8L * c, Memory.getLong(keys[c] + 8L * row));
        }
        return group;
    }

    /** Returns all groups and clears the table. */
    public GroupRows drain() {
        long[] values = new long[groupCount * aggregation.groupWidth()];
        Arrays.setAll(values, i -> Memory.getLong(groups + 8L * i));
        clear();
        return new GroupRows(aggregation, values);
    }
}
