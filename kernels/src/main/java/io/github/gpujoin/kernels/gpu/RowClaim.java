// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import org.jspecify.annotations.Nullable;

/**
 * Room for consecutive rows of an input.
 *
 * @param rows in a pinned run
 * @param keys room for their key records; null if they have none
 */
record RowClaim(RunStaging.Claim rows, KeyArena.@Nullable Claim keys) {

    int rowCount() {
        return rows.rows();
    }

    /** Counts the rows as written, or as rows that never will be because a task has failed. */
    void written() {
        if (keys != null) {
            keys.written();
        }
        rows.written();
    }
}
