// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.util.Collections;
import java.util.List;

/**
 * Memory that the tables of an engine may still use within its budget. Other engines may reserve it
 * first.
 *
 * @param availableBytes of each member: a device of the engine's group, in order, or the host; at
 *     least one
 * @param canPlace whether a table may be on one member alone, see {@link
 *     ForkableJoinEngine#forkLoading(int, int)}
 * @param canShard whether a table that all members probe may be sharded over them; otherwise each
 *     has the whole table
 */
public record TableMemory(List<Long> availableBytes, boolean canPlace, boolean canShard) {

    /**
     * Copies the list.
     *
     * @throws IllegalArgumentException if it is empty
     */
    public TableMemory {
        availableBytes = List.copyOf(availableBytes);
        if (availableBytes.isEmpty()) {
            throw new IllegalArgumentException("Table memory of no member.");
        }
    }

    /** Memory of the host or of a single device. */
    public static TableMemory ofOne(long availableBytes) {
        return new TableMemory(List.of(availableBytes), false, false);
    }

    /** Returns the number of members. */
    public int memberCount() {
        return availableBytes.size();
    }

    /** Returns the bytes of the largest table that all members can probe together. */
    public long spreadBytes() {
        long leastBytes = Collections.min(availableBytes);
        if (!canShard) {
            return leastBytes;
        }
        return leastBytes > Long.MAX_VALUE / memberCount()
                ? Long.MAX_VALUE
                : leastBytes * memberCount();
    }

    /**
     * Returns the bytes of the largest table if there are many: that of one member, if possible.
     */
    public long groupBytes() {
        return canPlace ? Collections.max(availableBytes) : spreadBytes();
    }
}
