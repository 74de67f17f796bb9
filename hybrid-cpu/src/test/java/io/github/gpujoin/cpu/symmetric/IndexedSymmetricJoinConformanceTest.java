// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.symmetric.testing.HeapMatchIndex;
import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

/**
 * The host's part of joins on a device, with an index on the heap that checks its use. Memory is
 * refused at random as long as a join has chunks on the heap, so that it spills them.
 */
class IndexedSymmetricJoinConformanceTest extends SymmetricJoinConformance {

    @TempDir static Path directory;

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        RefusingReservations memory = new RefusingReservations(hostMemory);
        SymmetricJoin join =
                new IndexedSymmetricJoinFactory(new HeapMatchIndex.Factory())
                        .create(spec, condition, memory, directory);
        memory.join = (IndexedSymmetricJoin) join;
        return join;
    }
}
