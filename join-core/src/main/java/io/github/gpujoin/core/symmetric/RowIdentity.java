// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

/** Which earlier row of an input a change refers to. */
public enum RowIdentity {
    /** Rows are only inserted, so no change refers to an earlier row. */
    APPEND_ONLY,
    /**
     * A join key has at most one row. An addition replaces the row of its key; a retraction removes
     * it, whatever its other columns.
     */
    JOIN_KEY,
    /**
     * The identity columns are unique. An addition replaces the row with equal identity columns; a
     * retraction removes it. A row never moves to another join key without a retraction.
     */
    UNIQUE_COLUMNS,
    /**
     * Rows repeat. An addition adds a row; a retraction removes one row whose identity columns are
     * equal, which are all columns that the rows of the input consist of. Equal rows expire
     * together, when the time to live has passed since the last one was added.
     */
    MULTISET
}
