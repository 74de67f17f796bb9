// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import java.io.Serializable;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Creates symmetric joins of one implementation. Serialized with a job. */
public interface SymmetricJoinFactory extends Serializable {

    /** Returns the name of the implementation in metrics and logs, for example {@code cpu}. */
    String joinName();

    /**
     * Creates a join with empty tables, which the caller closes.
     *
     * @param condition that rows with equal keys must meet to match
     * @param hostMemory bounds all host memory that grows with the data
     * @param spillDirectory of files for rows that exceed the memory; null to keep all in memory
     */
    SymmetricJoin create(
            SymmetricJoinSpec spec,
            MatchCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory);

    /**
     * Creates a join of two or more inputs with empty tables, which the caller closes.
     *
     * @param condition of each step
     * @param hostMemory bounds all host memory that grows with the data
     * @param spillDirectory of files for rows that exceed the memory; null to keep all in memory
     */
    SymmetricJoin create(
            MultiJoinSpec spec,
            MultiJoinCondition condition,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory);
}
