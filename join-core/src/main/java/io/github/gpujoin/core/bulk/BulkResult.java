// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.layout.Chunk;

/** Some of the results of a bulk join. All results together are the answer, in any order. */
public sealed interface BulkResult {

    /**
     * Result rows.
     *
     * @param chunk on the heap, with the {@linkplain BulkJoinSpec#resultSchema schema} of such rows
     */
    record Rows(ResultSides sides, Chunk chunk) implements BulkResult {}

    /**
     * A number of result rows. The counts of all results add up to the answer.
     *
     * @param rows 0 or more
     */
    record Count(long rows) implements BulkResult {}

    /**
     * Groups. A later result may contain the same groups again; the aggregates of a group add up
     * over all results.
     */
    record Groups(GroupRows groups) implements BulkResult {}
}
