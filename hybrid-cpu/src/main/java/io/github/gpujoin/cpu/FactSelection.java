// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.FactFilter;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ValueRanges.Range;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.List;

/**
 * Selects the facts that pass all filters. Each filter reads only the rows that passed the previous
 * one, in a branch-free loop. Not thread-safe.
 */
final class FactSelection {

    private final List<FactFilter> filters;
    private final FactColumn[] columns;
    private final long values;

    /**
     * @param maxRows limit of the rows of one call
     * @param memory outlives this object
     */
    FactSelection(JoinSpec spec, int maxRows, PagedMemory memory) {
        this.filters = spec.filters();
        this.columns =
                filters.stream()
                        .map(filter -> new FactColumn(spec, filter.column()))
                        .toArray(FactColumn[]::new);
        this.values = memory.allocate(8L * maxRows);
    }

    /** Returns whether there is any filter. */
    boolean filters() {
        return columns.length > 0;
    }

    /**
     * Writes the numbers of the rows that pass, ascending.
     *
     * @param rows address of room for {@code int32[count]}
     * @return number of rows that pass
     */
    int select(Chunk chunk, int firstRow, int count, long rows) {
        for (int i = 0; i < count; i++) {
            Memory.putInt(rows + 4L * i, firstRow + i);
        }
        int left = count;
        for (int f = 0; f < columns.length; f++) {
            if (f == 0) {
                columns[f].copy(chunk, firstRow, left, values);
            } else {
                columns[f].gather(chunk, rows, left, values);
            }
            left = keep(filters.get(f).values().ranges(), left, rows);
        }
        return left;
    }

    private int keep(List<Range> ranges, int count, long rows) {
        if (ranges.size() == 1) {
            return keepWithin(ranges.get(0).from(), ranges.get(0).to(), count, rows);
        }
        long target = rows;
        for (int i = 0; i < count; i++) {
            long value = Memory.getLong(values + 8L * i);
            int kept = 0;
            for (int r = 0; r < ranges.size(); r++) {
                Range range = ranges.get(r);
                kept |= isWithin(value, range.from(), range.to());
            }
            Memory.putInt(target, Memory.getInt(rows + 4L * i));
            target += 4L * kept;
        }
        return (int) (target - rows) / Integer.BYTES;
    }

    private int keepWithin(long from, long to, int count, long rows) {
        long values = this.values;
        long target = rows;
        for (int i = 0; i < count; i++) {
            int kept = isWithin(Memory.getLong(values + 8L * i), from, to);
            Memory.putInt(target, Memory.getInt(rows + 4L * i));
            target += 4L * kept;
        }
        return (int) (target - rows) / Integer.BYTES;
    }

    /** Returns 1 or 0, by one unsigned comparison of distances from the start of the range. */
    private static int isWithin(long value, long from, long to) {
        return Long.compareUnsigned(value - from, to - from) <= 0 ? 1 : 0;
    }
}
