// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.symmetric;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import io.github.gpujoin.core.symmetric.MultiJoinConformance;
import io.github.gpujoin.core.symmetric.MultiJoinSpec;
import io.github.gpujoin.core.symmetric.SymmetricJoin;

/** The tests of every join of several inputs, on the CPU. */
class CpuMultiJoinConformanceTest extends MultiJoinConformance {

    @Override
    protected SymmetricJoin create(
            MultiJoinSpec spec, MultiJoinCondition condition, MemoryReservations hostMemory) {
        return new CpuSymmetricJoinFactory().create(spec, condition, hostMemory, null);
    }
}
