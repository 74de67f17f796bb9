// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;

/**
 * Byte layout of a semi-join in device memory, the struct SemiJoinCall of {@code semi_join_call.h}.
 * The host writes the members up to {@code requestedKeySet}; the plan kernels write the others.
 *
 * <pre>
 *   0      64      128      168      176               184            192
 *   +------+-------+--------+--------+-----------------+--------------+
 *   | left | right | result | report | selectionMemory | keySetMemory |
 *   +------+-------+--------+--------+-----------------+--------------+
 *   192    196         200         208              216           224       232          240     288
 *   +------+-----------+-----------+----------------+-------------+---------+------------+-------+
 *   | kind | requested | buildSide | selectionBytes | keySetBytes | threads | selected   | keySet|
 *   |      | KeySet    |           |                |             | blocks  | Rows       |       |
 *   +------+-----------+-----------+----------------+-------------+---------+------------+-------+
 *   side:      keys, rows, expectedRows                                  int64 each
 *              minuend, subtrahend, low, high                            int64 each
 *              widthBytes                                                int32
 *   result:    groups, counts, rows, capacityRows                        int64 each
 *              groupWidthBytes, groupCount                               int32 each
 *   keySet:    kind                                                      int32
 * </pre>
 */
final class SemiJoinCall {

    static final int BYTES = 288;
    static final int LEFT_OFFSET = 0;
    static final int RIGHT_OFFSET = 64;
    static final int RESULT_OFFSET = 128;
    static final int REPORT_OFFSET = 168;
    static final int SELECTION_MEMORY_OFFSET = 176;
    static final int KEY_SET_MEMORY_OFFSET = 184;
    static final int KIND_OFFSET = 192;
    static final int REQUESTED_KEY_SET_OFFSET = 196;
    static final int BUILD_SIDE_OFFSET = 200;
    static final int SELECTION_BYTES_OFFSET = 208;
    static final int KEY_SET_BYTES_OFFSET = 216;
    static final int THREADS_OFFSET = 224;
    static final int BLOCKS_PER_SM_OFFSET = 228;
    static final int SELECTED_ROWS_OFFSET = 232;
    static final int KEY_SET_OFFSET = 240;

    /** The struct SemiJoinReport: rows, smallest, largest, resultRows, ungroupedRows. */
    static final int REPORT_BYTES = 40;

    static final int REPORT_RESULT_ROWS_OFFSET = 24;
    static final int REPORT_UNGROUPED_ROWS_OFFSET = 32;

    /** Of keys and columns of conditions in device memory. */
    static final int ALIGNMENT_BYTES = 16;

    static final int MAX_GROUPS = 1024;
    static final long MAX_LEFT_ROWS = 0xFFFF_FFFFL;
    static final long MAX_BUILD_ROWS = Integer.MAX_VALUE - 1;

    /** Whether left rows with a match are the result, or those without. */
    enum Kind {
        SEMI,
        ANTI
    }

    /** What holds the keys of the build side: AUTO lets the plan choose by their range. */
    enum KeySet {
        AUTO,
        DIRECT,
        HASH
    }

    /**
     * The condition {@code low <= minuend - subtrahend <= high} on the rows of a side.
     *
     * @param minuend device address of a column of signed integers, or 0 if there is no condition
     * @param subtrahend device address of a column of the same width, at most 4 bytes; 0 if the
     *     condition is a range of the minuend
     * @param widthBytes of a value: 1, 2, 4 or 8
     */
    record Condition(long minuend, long subtrahend, long low, long high, int widthBytes) {

        static final Condition NONE = new Condition(0, 0, 0, 0, 0);

        Condition {
            if (minuend != 0 && (!isWidth(widthBytes) || (subtrahend != 0 && widthBytes == 8))) {
                throw new IllegalArgumentException(
                        "Columns of a condition have an unsupported width: widthBytes="
                                + widthBytes
                                + ". Use 1, 2 or 4, or 8 to test a single column.");
            }
            if (low > high) {
                throw new IllegalArgumentException(
                        "Range of a condition is empty: low=" + low + ", high=" + high);
            }
        }

        boolean isPresent() {
            return minuend != 0;
        }
    }

    /**
     * Rows of one side.
     *
     * @param keys device address of {@code rows} words
     * @param expectedRows rows that are expected to satisfy the condition, 0 to {@code rows}. They
     *     choose the side that builds and the size of its selection; more rows cost a repetition.
     */
    record Side(long keys, long rows, long expectedRows, Condition condition) {

        Side {
            if (rows < 0 || expectedRows < 0 || expectedRows > rows) {
                throw new IllegalArgumentException(
                        "Expected rows are not between 0 and all rows: expected="
                                + expectedRows
                                + ", rows="
                                + rows);
            }
        }

        /** Returns all rows of a table. */
        static Side of(long keys, long rows) {
            return new Side(keys, rows, rows, Condition.NONE);
        }

        /** Returns the rows for which the build side's selection has room. */
        long selectionCapacityRows() {
            return condition.isPresent() ? expectedRows : rows;
        }

        Side withExpectedRows(long count) {
            return new Side(keys, rows, count, condition);
        }

        private void write(long address) {
            Memory.putLong(address, keys);
            Memory.putLong(address + 8, rows);
            Memory.putLong(address + 16, expectedRows);
            Memory.putLong(address + 24, condition.minuend());
            Memory.putLong(address + 32, condition.subtrahend());
            Memory.putLong(address + 40, condition.low());
            Memory.putLong(address + 48, condition.high());
            Memory.putInt(address + 56, condition.widthBytes());
        }
    }

    /**
     * Where the result is written in device memory.
     *
     * @param groups address of the group of each left row, integers from 0 to {@code groupCount -
     *     1}; 0 if all rows are in group 0
     * @param counts address of {@code groupCount} int64: the result rows of each group
     * @param rows address of {@code capacityRows} unsigned int32 for the numbers of the result rows
     *     in any order, or 0 if nobody needs them
     * @param groupCount 1 to {@link #MAX_GROUPS}
     */
    record Result(
            long groups,
            int groupWidthBytes,
            int groupCount,
            long counts,
            long rows,
            long capacityRows) {

        Result {
            if (groupCount < 1 || groupCount > MAX_GROUPS) {
                throw new IllegalArgumentException(
                        "Number of groups is out of range: groups="
                                + groupCount
                                + ", maximum="
                                + MAX_GROUPS);
            }
            if (groups != 0 && !isWidth(groupWidthBytes)) {
                throw new IllegalArgumentException(
                        "Groups have an unsupported width: widthBytes=" + groupWidthBytes);
            }
        }

        private void write(long address) {
            Memory.putLong(address, groups);
            Memory.putLong(address + 8, counts);
            Memory.putLong(address + 16, rows);
            Memory.putLong(address + 24, capacityRows);
            Memory.putInt(address + 32, groupWidthBytes);
            Memory.putInt(address + 36, groupCount);
        }
    }

    private SemiJoinCall() {}

    private static boolean isWidth(int widthBytes) {
        return widthBytes == 1 || widthBytes == 2 || widthBytes == 4 || widthBytes == 8;
    }

    /** Writes what the host determines, without a workspace. */
    static void write(
            Region call, Side left, Side right, Result result, long report, Kind kind, KeySet set) {
        long address = call.address();
        writeSides(call, left, right);
        result.write(address + RESULT_OFFSET);
        Memory.putLong(address + REPORT_OFFSET, report);
        Memory.putInt(address + KIND_OFFSET, kind.ordinal());
        Memory.putInt(address + REQUESTED_KEY_SET_OFFSET, set.ordinal());
    }

    static void writeSides(Region call, Side left, Side right) {
        left.write(call.address() + LEFT_OFFSET);
        right.write(call.address() + RIGHT_OFFSET);
    }

    /** Returns the words of a call, as a parameter of kernels. */
    static long[] words(Region call) {
        long[] words = new long[BYTES / Long.BYTES];
        for (int i = 0; i < words.length; i++) {
            words[i] = Memory.getLong(call.address() + (long) Long.BYTES * i);
        }
        return words;
    }
}
