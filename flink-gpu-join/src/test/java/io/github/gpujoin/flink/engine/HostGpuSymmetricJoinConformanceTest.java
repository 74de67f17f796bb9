// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.kernels.gpu.HostMatchDevice;
import org.junit.jupiter.api.BeforeAll;

/** Symmetric joins whose chains are on a GPU, on a device that the CPU emulates. */
class HostGpuSymmetricJoinConformanceTest extends SymmetricJoinConformance {

    /** Fewer matches than most chunks have, so that the device returns pieces. */
    private static final int MATCH_CAPACITY = 64;

    private static HostMatchDevice device;

    @BeforeAll
    static void open() throws Exception {
        device = HostMatchDevice.open(MATCH_CAPACITY);
    }

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        return new IndexedSymmetricJoinFactory(device).create(spec, condition, hostMemory, null);
    }
}
