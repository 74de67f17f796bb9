// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.MAX_DICTIONARY_SIZE;
import static io.github.gpujoin.core.encoding.EncodedColumnDescriptor.TILE_ROWS;

/**
 * What decides the length of a column under each plan: ranges of values and of their differences,
 * and runs. One object measures column after column. Not thread-safe.
 */
final class ColumnStatistics {

    /** Length of a plan that cannot represent the column. */
    static final long IMPOSSIBLE = Long.MAX_VALUE;

    private int rowCount;
    private int widthBytes;

    long min;
    long max;
    long minDelta;
    long maxDelta;

    /** The same of the first values of runs. */
    long minRunDelta;

    long maxRunDelta;

    int runCount;
    int longestRun;

    /**
     * Measures all but the dictionary.
     *
     * @param widthBytes of a plain value
     */
    void measure(long[] values, int rowCount, int widthBytes) {
        this.rowCount = rowCount;
        this.widthBytes = widthBytes;
        min = Long.MAX_VALUE;
        max = Long.MIN_VALUE;
        minDelta = Long.MAX_VALUE;
        maxDelta = Long.MIN_VALUE;
        minRunDelta = Long.MAX_VALUE;
        maxRunDelta = Long.MIN_VALUE;
        runCount = 0;
        longestRun = 0;
        for (int from = 0; from < rowCount; from += TILE_ROWS) {
            measureTile(values, from, Math.min(rowCount, from + TILE_ROWS));
        }
        if (minDelta > maxDelta) {
            minDelta = 0;
            maxDelta = 0;
        }
        if (minRunDelta > maxRunDelta) {
            minRunDelta = 0;
            maxRunDelta = 0;
        }
    }

    /** Measures only what plans without runs and differences need. */
    void measureRange(long[] values, int rowCount, int widthBytes) {
        this.rowCount = rowCount;
        this.widthBytes = widthBytes;
        long smallest = Long.MAX_VALUE;
        long largest = Long.MIN_VALUE;
        for (int row = 0; row < rowCount; row++) {
            smallest = Math.min(smallest, values[row]);
            largest = Math.max(largest, values[row]);
        }
        min = smallest;
        max = largest;
        runCount = 0;
        longestRun = 0;
    }

    private void measureTile(long[] values, int from, int to) {
        long previous = values[from];
        long tileMin = previous;
        long tileMax = previous;
        int runStart = from;
        for (int row = from + 1; row < to; row++) {
            long value = values[row];
            long delta = value - previous;
            tileMin = Math.min(tileMin, value);
            tileMax = Math.max(tileMax, value);
            minDelta = Math.min(minDelta, delta);
            maxDelta = Math.max(maxDelta, delta);
            if (delta != 0) {
                minRunDelta = Math.min(minRunDelta, delta);
                maxRunDelta = Math.max(maxRunDelta, delta);
                runCount++;
                longestRun = Math.max(longestRun, row - runStart);
                runStart = row;
            }
            previous = value;
        }
        runCount++;
        longestRun = Math.max(longestRun, to - runStart);
        min = Math.min(min, tileMin);
        max = Math.max(max, tileMax);
    }

    int rowCount() {
        return rowCount;
    }

    /** Returns the count of stored values: rows or runs. */
    int valueCount(EncodingPlan plan) {
        return plan.isRunLength() ? runCount : rowCount;
    }

    /** Returns what a code is added to. */
    long base(EncodingPlan plan) {
        return switch (plan.values()) {
            case BIT_PACKED -> rowCount == 0 ? 0 : min;
            case DELTA -> plan.isRunLength() ? minRunDelta : minDelta;
            case PLAIN, DICTIONARY -> 0;
        };
    }

    /**
     * Returns the bits of a code; 0 for plain values.
     *
     * @param dictionarySize count of distinct values, for a dictionary
     */
    int valueBits(EncodingPlan plan, int dictionarySize) {
        return switch (plan.values()) {
            case PLAIN -> 0;
            case BIT_PACKED -> rowCount == 0 ? 0 : BitPacking.bitsOf(max - min);
            case DELTA ->
                    plan.isRunLength()
                            ? BitPacking.bitsOf(maxRunDelta - minRunDelta)
                            : BitPacking.bitsOf(maxDelta - minDelta);
            case DICTIONARY -> BitPacking.bitsOf(Math.max(0, dictionarySize - 1));
        };
    }

    int runBits(EncodingPlan plan) {
        return plan.isRunLength() ? BitPacking.bitsOf(Math.max(0, longestRun - 1)) : 0;
    }

    /**
     * Returns the exact bytes of the column's body, or {@link #IMPOSSIBLE}.
     *
     * @param dictionarySize count of distinct values, or more than {@link
     *     EncodedColumnDescriptor#MAX_DICTIONARY_SIZE} if it is unknown or too large
     */
    long bodyBytes(EncodingPlan plan, int dictionarySize) {
        int valueBits = valueBits(plan, dictionarySize);
        boolean isDictionary = plan.values() == ValueEncoding.DICTIONARY;
        if (valueBits > BitPacking.MAX_BITS
                || isDictionary && dictionarySize > MAX_DICTIONARY_SIZE) {
            return IMPOSSIBLE;
        }
        return BodySections.of(
                        plan,
                        rowCount,
                        plan.isRunLength() ? runCount : 0,
                        widthBytes,
                        valueBits,
                        runBits(plan),
                        isDictionary ? dictionarySize : 0)
                .endBytes();
    }
}
