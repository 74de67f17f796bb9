// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.ResultSides;
import io.github.gpujoin.kernels.gpu.ResidentJoin.ItemRange;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Finds the matches of two tables with the resident join: pairs of row numbers, their count, or a
 * mark for each row with a match. The table with fewer rows builds.
 *
 * <p>Pairs are found in ranges of work items, because all of them may exceed the memory. A range
 * whose pairs do not fit is joined again in parts; the kernel counts pairs that it does not write,
 * so that nothing is lost. Not thread-safe.
 */
final class BulkMatcher {

    /**
     * Limits a launch to seconds, even if all rows have the same key: each item then has 2.9 * 10^8
     * pairs, and a device that finds 10^12 of them in a second needs 10 s.
     */
    private static final long EXACT_LAUNCH_ITEMS = 1 << 15;

    /** The same if the device compares key records, at least 10^11 of them in a second. */
    private static final long HASHED_LAUNCH_ITEMS = 1 << 12;

    private static final long MIN_CAPACITY_ROWS = 1 << 16;

    private final BulkDevice device;
    private final BulkRows left;
    private final BulkRows right;
    private final JoinSide buildSide;
    private final int wordBytes;
    private final long launchItems;
    private final ResidentJoin join;
    private final ResidentCall.Table build;
    private final ResidentCall.Table probe;
    private final long workspace;
    private final long matchCount;
    private final long capacityRows;
    private final ResidentCall.Matches matches;

    private boolean isPlanned;
    private long itemCount;
    private long nextItem;

    /** Items of the next launch. */
    private long rangeItems;

    /** Probe rows of the next item that are joined, if its pairs exceed the memory. */
    private int nextProbeRow;

    private int sliceRows = ItemRange.ITEM_PROBE_ROWS;

    private long foundRows;
    private long takenRows;

    /**
     * Reserves the memory.
     *
     * @param needsPairs whether pairs are written; otherwise they are only counted
     */
    BulkMatcher(
            BulkDevice device,
            BulkAllocator memory,
            BulkRows left,
            BulkRows right,
            boolean needsPairs) {
        this.device = device;
        this.left = left;
        this.right = right;
        this.buildSide = left.rowCount() < right.rowCount() ? JoinSide.LEFT : JoinSide.RIGHT;
        this.wordBytes = left.layout().wordBytes();
        this.launchItems = left.layout().hasKeyRecords() ? HASHED_LAUNCH_ITEMS : EXACT_LAUNCH_ITEMS;
        this.rangeItems = launchItems;
        this.join = ResidentJoin.ofRuns(device, left.layout(), memory.allocate(ResidentCall.BYTES));
        this.build = tableOf(buildSide);
        this.probe = tableOf(buildSide.other());
        long bytes = device.whileStopped(() -> join.workspaceBytes(build, probe));
        this.workspace = memory.allocate(bytes);
        this.matchCount = memory.allocate(Long.BYTES);
        this.capacityRows = needsPairs ? capacityRows(memory, probe.rows(), wordBytes) : 0;
        long columnBytes = Math.max(Long.BYTES, wordBytes * capacityRows);
        this.matches =
                new ResidentCall.Matches(
                        0,
                        needsPairs ? memory.allocate(columnBytes) : 0,
                        needsPairs ? memory.allocate(columnBytes) : 0,
                        capacityRows,
                        matchCount);
    }

    /**
     * Returns for how many pairs to reserve memory: for a match of each row of the larger input, if
     * there is room.
     */
    static long capacityRows(BulkAllocator memory, long rows, int wordBytes) {
        long mostRows = memory.availableBytes() / (2L * wordBytes) * 15 / 16;
        return Math.max(MIN_CAPACITY_ROWS, Math.min(wantedRows(rows), mostRows));
    }

    /** One range of items suffices if each probe row has a match, and no more. */
    private static long wantedRows(long probeRows) {
        return probeRows + probeRows / 16 + MIN_CAPACITY_ROWS;
    }

    /** Returns an upper bound of the memory that pairs need. */
    static long pairBytes(int wordBytes, long probeRows) {
        return 2L * wordBytes * (wantedRows(probeRows) * 17 / 16);
    }

    private BulkRows table(JoinSide side) {
        return side == JoinSide.LEFT ? left : right;
    }

    private ResidentCall.Table tableOf(JoinSide side) {
        return ResidentCall.Table.ofRuns(table(side).runs(), table(side).rowCount());
    }

    /** Partitions both tables. */
    void partition() {
        device.run(() -> join.partition(build, probe, matches, workspace));
    }

    /** Returns the number of pairs. */
    long countPairs() throws InterruptedException {
        plan(0);
        forAllItems(join::join);
        return device.read(matchCount);
    }

    /** Launches a kernel for one range of all planned items after the other. */
    private void forAllItems(Consumer<ItemRange> launch) throws InterruptedException {
        long end = 0;
        while (end < itemCount) {
            BulkDevice.checkInterrupt();
            long first = end;
            end = Math.min(itemCount, first + launchItems);
            ItemRange range = ItemRange.to(end);
            device.run(
                    () -> {
                        join.claimItems(first);
                        launch.accept(range);
                    });
        }
    }

    private void plan(int buildTable) {
        device.run(() -> join.planItems(buildTable));
        itemCount = device.whileStopped(join::itemCount);
    }

    /**
     * Returns the next pairs, in batches.
     *
     * @return null if there are no more
     */
    @Nullable BulkBatch nextPairs(long batchRows) throws InterruptedException {
        if (!isPlanned) {
            plan(0);
            isPlanned = true;
        }
        while (takenRows == foundRows) {
            if (nextItem == itemCount) {
                return null;
            }
            BulkDevice.checkInterrupt();
            findPairs();
        }
        long first = takenRows;
        takenRows += Math.min(batchRows, foundRows - first);
        BulkBatch.Rows builds = rows(buildSide, matches.buildPayloads(), first);
        BulkBatch.Rows probes = rows(buildSide.other(), matches.probePayloads(), first);
        boolean isLeftBuild = buildSide == JoinSide.LEFT;
        return new BulkBatch(
                ResultSides.BOTH,
                isLeftBuild ? builds : probes,
                isLeftBuild ? probes : builds,
                takenRows - first);
    }

    private BulkBatch.Rows rows(JoinSide side, long numbers, long first) {
        return new BulkBatch.Rows(table(side).runs(), numbers, first, wordBytes);
    }

    /** Joins a range of items, if its pairs fit. */
    private void findPairs() {
        long end = Math.min(itemCount, nextItem + rangeItems);
        ItemRange range = new ItemRange(end, nextProbeRow, sliceRows);
        device.run(
                () -> {
                    device.driver().fillDevice(matchCount, (byte) 0, Long.BYTES);
                    join.claimItems(nextItem);
                    join.join(range);
                });
        long found = device.read(matchCount);
        takenRows = 0;
        foundRows = 0;
        if (found <= capacityRows) {
            foundRows = found;
            advance(end, found);
        } else if (rangeItems > 1) {
            double share = 0.75 * capacityRows / found;
            rangeItems = Math.max(1, (long) (share * (end - nextItem)));
        } else {
            sliceRows = (int) Math.max(1, capacityRows / ItemRange.ITEM_BUILD_ROWS);
        }
    }

    private void advance(long end, long found) {
        nextProbeRow += sliceRows;
        if (nextProbeRow < ItemRange.ITEM_PROBE_ROWS) {
            return;
        }
        nextProbeRow = 0;
        sliceRows = ItemRange.ITEM_PROBE_ROWS;
        nextItem = end;
        if (found < capacityRows / 4) {
            rangeItems = Math.min(launchItems, 2 * rangeItems);
        }
    }

    /**
     * Marks the rows of an input that have a match. Pairs cannot be read afterwards.
     *
     * @param marks device address of a byte for each row
     * @param clears whether no row is marked before
     */
    void mark(JoinSide side, long marks, boolean clears) throws InterruptedException {
        if (clears) {
            device.run(() -> device.driver().fillDevice(marks, (byte) 0, table(side).rowCount()));
        }
        int buildTable = side == buildSide ? 1 : 0;
        plan(buildTable);
        forAllItems(range -> join.mark(buildTable, range, marks));
    }
}
