// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import org.jspecify.annotations.Nullable;

/**
 * The rows of a chunk that a device looks up, and their matches in pinned memory. The first launch
 * counts the matches of all rows, and writes them as far as the buffer has room. If it has not,
 * later launches write those of as many rows as fit, so that all matches of a row are there at
 * once.
 *
 * <pre>
 *   pinned: capacity rows:  starts, 4 bytes | counts, 4 bytes
 *   device: claimed, 8 bytes | matches, 4 bytes each      pinned: matches, 4 bytes each
 * </pre>
 */
final class MatchProbe {

    /** A chain of so many rows is walked in about 3 s (estimated), once. */
    static final int MAX_CHAIN = 1 << 22;

    private final MatchDevice device;
    private final MatchRows rows;
    private final BulkMemory claimedMemory;
    private final long claimed;

    private @Nullable BulkMemory countMemory;
    private long starts;
    private long counts;
    private int countCapacity;

    private @Nullable BulkMemory matchMemory;
    private long deviceMatches;
    private long pinnedMatches;
    private long matchCapacity;

    private long index;
    private int input;
    private int count;
    private long launch;

    /** The row behind the last one whose matches may be in the buffer. */
    private int pieceEnd;

    /**
     * @param matchCapacity matches of the buffer at first
     */
    MatchProbe(MatchDevice device, int matchCapacity) {
        this.device = device;
        this.rows = new MatchRows(device);
        this.claimedMemory = device.newMemory();
        this.claimed = claimedMemory.allocate(Long.BYTES);
        allocateMatches(matchCapacity);
    }

    private void allocateMatches(long capacity) {
        BulkMemory memory = device.newMemory();
        deviceMatches = memory.allocate(Integer.BYTES * capacity);
        pinnedMatches = memory.allocatePinned(Integer.BYTES * capacity);
        if (matchMemory != null) {
            matchMemory.close();
        }
        matchMemory = memory;
        matchCapacity = capacity;
    }

    /** Returns the rows, to be written before {@link #start}. */
    MatchRows rows() {
        return rows;
    }

    /**
     * Starts to look up the rows that were written.
     *
     * @param index address of its descriptor
     * @param input in which rows are looked up
     */
    void start(long index, int input, int count) {
        device.await(launch);
        if (count > countCapacity) {
            if (countMemory != null) {
                countMemory.close();
                countMemory = null;
                countCapacity = 0;
            }
            countMemory = device.newMemory();
            starts = countMemory.allocatePinned(2L * Integer.BYTES * rows.capacity());
            countCapacity = rows.capacity();
            counts = starts + (long) Integer.BYTES * countCapacity;
        }
        this.index = index;
        this.input = input;
        this.count = count;
        launch(0, count);
    }

    private void launch(int from, int to) {
        pieceEnd = to;
        launch =
                device.launch(
                        () -> {
                            device.clearNow(claimed, Long.BYTES);
                            device.launchNow(
                                    "gpujoin_match_probe",
                                    to - from,
                                    index,
                                    input,
                                    rows.keysAddress(),
                                    rows.linksAddress(),
                                    from,
                                    to,
                                    starts,
                                    counts,
                                    deviceMatches,
                                    matchCapacity,
                                    claimed,
                                    MAX_CHAIN);
                            device.launchNow(
                                    "gpujoin_match_publish",
                                    to == from ? 0 : matchCapacity / 4,
                                    deviceMatches,
                                    pinnedMatches,
                                    matchCapacity,
                                    claimed);
                        });
        rows.usedBy(launch);
    }

    /**
     * Waits for the number of matches of a row.
     *
     * @throws GpuUnavailableException if it is too large
     */
    int count(int row) {
        device.await(launch);
        int found = Memory.getInt(counts + (long) Integer.BYTES * row);
        if (found > MAX_CHAIN) {
            throw new GpuUnavailableException(
                    GpuFailure.HEAVY_HITTER,
                    "A key has too many rows for a device: maxRows="
                            + MAX_CHAIN
                            + ". Use the CPU for this join.");
        }
        return found;
    }

    /** Waits for the matches of a row, which has some, and returns the address of their ids. */
    long matches(int row) {
        long start = Memory.getInt(starts + (long) Integer.BYTES * row) & 0xFFFF_FFFFL;
        if (row >= pieceEnd || start + count(row) > matchCapacity) {
            nextPiece(row);
            start = Memory.getInt(starts + (long) Integer.BYTES * row) & 0xFFFF_FFFFL;
        }
        return pinnedMatches + Integer.BYTES * start;
    }

    private void nextPiece(int row) {
        int end = row;
        for (long sum = 0; end < count; end++) {
            sum += Memory.getInt(counts + (long) Integer.BYTES * end);
            if (sum > matchCapacity) {
                break;
            }
        }
        if (end == row) {
            allocateMatches(2L * Integer.highestOneBit(count(row)));
            end++;
        }
        launch(row, end);
        device.await(launch);
    }
}
