// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Two areas of runs in device memory: copies fill one of them, while kernels divide the other one.
 * Not thread-safe.
 */
final class RunAreas {

    /** The number of areas. */
    static final int AREAS = 2;

    private final BulkDevice device;
    private final BulkRunLayout layout;
    private final int runs;
    private final RunDivision.Divide divide;

    /** First run of each area. */
    private final long[] areas = new long[AREAS];

    private final int[] rows = new int[AREAS];
    private final long[] lastCopies = new long[AREAS];
    private int filled;

    /**
     * @param runs of an area
     * @param divide receives the runs of an area, which are free after the call
     */
    RunAreas(
            BulkDevice device,
            BulkAllocator memory,
            BulkRunLayout layout,
            int runs,
            RunDivision.Divide divide) {
        this.device = device;
        this.layout = layout;
        this.runs = runs;
        this.divide = divide;
        Arrays.fill(lastCopies, RunSink.NO_COPY);
        for (int area = 0; area < AREAS; area++) {
            areas[area] = memory.allocate((long) runs * layout.lengthBytes());
        }
    }

    /**
     * Copies adjacent runs to an area. If it has no room, the other one is divided first.
     *
     * @param pinnedRuns see {@link RunSink#add}
     */
    DeviceCopy add(long pinnedRuns, int rowCount) throws InterruptedException {
        long source = pinnedRuns;
        for (int rest = rowCount; rest > 0; ) {
            int used = runsOf(rows[filled]);
            if (used == runs) {
                filled = (filled + 1) % AREAS;
                divide(filled);
                used = 0;
            }
            int count = Math.min(runs - used, runsOf(rest));
            long bytes = (long) count * layout.lengthBytes();
            long target = areas[filled] + (long) used * layout.lengthBytes();
            lastCopies[filled] = device.startCopy(target, source, bytes);
            int copied = Math.min(rest, count * BulkRunLayout.RUN_ROWS);
            rows[filled] += copied;
            rest -= copied;
            source += bytes;
        }
        return new DeviceCopy.Started(device, lastCopies[filled]);
    }

    private static int runsOf(int rows) {
        return (rows + BulkRunLayout.RUN_ROWS - 1) / BulkRunLayout.RUN_ROWS;
    }

    private void divide(int area) throws InterruptedException {
        if (rows[area] == 0) {
            return;
        }
        device.awaitCopy(lastCopies[area]);
        List<Long> divided = new ArrayList<>();
        for (int run = 0; run < runsOf(rows[area]); run++) {
            divided.add(areas[area] + (long) run * layout.lengthBytes());
        }
        divide.divide(divided, rows[area]);
        rows[area] = 0;
    }

    /** Divides what is left. */
    void finish() throws InterruptedException {
        for (int i = 1; i <= AREAS; i++) {
            divide((filled + i) % AREAS);
        }
    }
}
