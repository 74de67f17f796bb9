// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.core.symmetric.testing.HeapMatchIndex;

/** The host's part of joins on a device, with an index on the heap that checks its use. */
class IndexedSymmetricJoinConformanceTest extends SymmetricJoinConformance {

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        return new IndexedSymmetricJoinFactory(new HeapMatchIndex.Factory())
                .create(spec, condition, hostMemory, null);
    }
}
