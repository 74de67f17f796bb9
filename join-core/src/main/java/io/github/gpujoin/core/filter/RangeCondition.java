// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import io.github.gpujoin.core.engine.ValueRanges;
import io.github.gpujoin.core.engine.ValueRanges.Range;

/**
 * Accepts values in any of some ranges.
 *
 * @param values the ranges
 */
public record RangeCondition(ValueRanges values) implements LongCondition {

    @Override
    public boolean mayAccept(long value) {
        return values.contains(value);
    }

    @Override
    public boolean mayAcceptAny(long from, long to) {
        return values.ranges().stream().anyMatch(range -> range.from() <= to && range.to() >= from);
    }

    @Override
    public int select(long[] keys, int[] rows, int from, int end, int to) {
        if (values.ranges().size() == 1) {
            return selectWithin(values.ranges().get(0), keys, rows, from, end, to);
        }
        int kept = to;
        for (int i = from; i < end; i++) {
            int row = rows[i];
            rows[kept] = row;
            kept += isWithin(keys[row]) ? 1 : 0;
        }
        return kept;
    }

    private boolean isWithin(long value) {
        for (int i = 0; i < values.ranges().size(); i++) {
            Range range = values.ranges().get(i);
            if (range.from() <= value && value <= range.to()) {
                return true;
            }
        }
        return false;
    }

    @Override
    public String toString() {
        return values.toString();
    }

    private static int selectWithin(
            Range range, long[] keys, int[] rows, int from, int end, int to) {
        long smallest = range.from();
        long largest = range.to();
        int kept = to;
        for (int i = from; i < end; i++) {
            int row = rows[i];
            long value = keys[row];
            rows[kept] = row;
            kept += smallest <= value && value <= largest ? 1 : 0;
        }
        return kept;
    }
}
