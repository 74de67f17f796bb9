// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

/**
 * Memory of the tables of a partition group.
 *
 * @param totalBytes on all members together
 * @param eachBytes on each member that has a part of them
 * @param isSharded whether each member has another part; otherwise each has all rows
 */
record TableSize(long totalBytes, long eachBytes, boolean isSharded) {

    static final TableSize NONE = new TableSize(0, 0, false);

    /** Returns the bytes of the tables on one member alone. */
    long wholeBytes() {
        return isSharded ? totalBytes : eachBytes;
    }
}
