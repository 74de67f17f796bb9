// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * Divides event time into slices of about {@link #ROWS} rows, so that the heap holds the versions
 * of a slice only. The number of rows up to a time is estimated from the first and the last time of
 * each chunk. So the cost of a slice does not depend on how many chunks overlap in time.
 */
final class EventTimeSlice {

    /** Rows of a slice. */
    static final int ROWS = 1 << 16;

    private EventTimeSlice() {}

    /**
     * Returns the event time in ms at which the next slice ends: up to it there are about {@link
     * #ROWS} rows, or all rows up to the watermark. At least one row is due at it, if one is due at
     * the watermark.
     *
     * @param waiting chunks in any order
     * @param watermark in ms
     */
    static long end(Collection<? extends TimedRows> waiting, long watermark) {
        List<TimedRows> due = new ArrayList<>();
        long first = Long.MAX_VALUE;
        long last = Long.MIN_VALUE;
        for (TimedRows rows : waiting) {
            if (rows.time() <= watermark) {
                due.add(rows);
                first = Math.min(first, rows.time());
                last = Math.max(last, rows.lastTime());
            }
        }
        if (count(due, watermark) <= ROWS) {
            return watermark;
        }
        long low = first;
        long high = Math.min(watermark, last);
        while (low < high) {
            long middle = low + (high - low >>> 1);
            double count = count(due, middle);
            if (count > ROWS) {
                high = middle;
            } else if (count < ROWS / 2 && middle > low) {
                low = middle;
            } else {
                return middle;
            }
        }
        return low;
    }

    private static double count(List<TimedRows> due, long upTo) {
        double count = 0;
        for (TimedRows rows : due) {
            count += rows.countUpTo(upTo);
        }
        return count;
    }
}
