// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import java.nio.LongBuffer;
import java.util.HashMap;
import java.util.Map;

/** Merges the aggregation groups of several engines or devices. Not thread-safe. */
public final class GroupMerge {

    private final Aggregation aggregation;
    private final Map<LongBuffer, long[]> groups = new HashMap<>();

    public GroupMerge(Aggregation aggregation) {
        this.aggregation = aggregation;
    }

    /** Whether there are as many groups as the aggregation may have. */
    public boolean isFull() {
        return groups.size() >= aggregation.maxGroups();
    }

    /** Adds the aggregates of groups to those of equal groups. */
    public void add(GroupRows rows) {
        int columns = aggregation.groupColumns().size();
        int sums = aggregation.aggregates().size();
        for (int row = 0; row < rows.rowCount(); row++) {
            long[] key = new long[columns];
            for (int c = 0; c < columns; c++) {
                key[c] = rows.groupValue(row, c);
            }
            long[] total = groups.computeIfAbsent(LongBuffer.wrap(key), k -> new long[sums]);
            for (int a = 0; a < sums; a++) {
                total[a] += rows.aggregate(row, a);
            }
        }
    }

    /** Returns all merged groups and clears them. */
    public GroupRows drain() {
        LongBuffer values = LongBuffer.allocate(groups.size() * aggregation.groupWidth());
        groups.forEach((key, sums) -> values.put(key.duplicate()).put(sums));
        groups.clear();
        return new GroupRows(aggregation, values.array());
    }
}
