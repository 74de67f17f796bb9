// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.util.concurrent.atomic.AtomicIntegerArray;

/**
 * For which columns of a file a dictionary is attempted. A column with too many distinct values in
 * a row group likely has them in the next ones, which then skip the attempt. Thread-safe.
 */
final class DictionaryAttempts {

    /** Row groups without an attempt after one that failed. */
    private static final int SKIPPED_GROUPS = 15;

    /** Row groups to skip, by column. */
    private final AtomicIntegerArray skips;

    DictionaryAttempts(int columnCount) {
        this.skips = new AtomicIntegerArray(columnCount);
    }

    /** Returns whether to attempt a dictionary of a column for the next row group. */
    boolean next(int column) {
        return skips.getAndUpdate(column, left -> Math.max(0, left - 1)) == 0;
    }

    /** Records that a column had too many distinct values. */
    void failed(int column) {
        skips.set(column, SKIPPED_GROUPS);
    }
}
