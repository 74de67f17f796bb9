// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.MatchCondition;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinConformance;
import io.github.gpujoin.core.symmetric.SymmetricJoinSpec;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.kernels.gpu.GpuMatchIndexFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GpuTestDevice;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;

@NeedsGpu
class GpuSymmetricJoinConformanceTest extends SymmetricJoinConformance {

    private static AutoCloseable device;

    @BeforeAll
    static void open() {
        device = GpuTestDevice.open(GpuOptions.defaults());
    }

    @AfterEach
    void freeKeptMemory() {
        GpuTestDevice.freeKept(GpuOptions.defaults());
    }

    @AfterAll
    static void close() throws Exception {
        device.close();
    }

    @Override
    protected SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory) {
        return new IndexedSymmetricJoinFactory(new GpuMatchIndexFactory(GpuOptions.defaults()))
                .create(spec, condition, hostMemory, null);
    }
}
