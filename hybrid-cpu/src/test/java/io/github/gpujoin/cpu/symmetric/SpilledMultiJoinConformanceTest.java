// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinConformance;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/** Refuses memory at random as long as a join has chunks on the heap, so that it spills them. */
class SpilledMultiJoinConformanceTest extends MultiJoinConformance {

    @TempDir static Path directory;

    @Override
    protected SymmetricJoin create(
            MultiJoinSpec spec, MultiJoinCondition condition, MemoryReservations hostMemory) {
        RefusingReservations memory = new RefusingReservations(hostMemory);
        memory.join = new CpuMultiJoin(spec, condition, memory, directory);
        return memory.join;
    }
}
