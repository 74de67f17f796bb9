// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.region.MemoryReservations;
import java.io.Serializable;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/** Creates bulk joins of one implementation. Serialized with a job. */
public interface BulkJoinFactory extends Serializable {

    /** Returns the name of the implementation in metrics and logs, for example {@code cpu}. */
    String joinName();

    /**
     * Returns whether joins use a device, which may fail during a join while the process continues.
     */
    default boolean usesDevice() {
        return false;
    }

    /**
     * Creates a join without input, which the caller closes.
     *
     * @param hostMemory bounds all host memory that grows with the data
     * @param spillDirectory of files for rows that exceed the memory; null to fail instead
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if this process cannot run
     *     the implementation, or the memory is too small; the caller may try another factory
     */
    BulkJoin create(
            BulkJoinSpec spec, MemoryReservations hostMemory, @Nullable Path spillDirectory);
}
