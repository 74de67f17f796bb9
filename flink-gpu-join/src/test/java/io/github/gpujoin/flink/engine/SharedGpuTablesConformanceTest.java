// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.GpuTestDevice;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;

/** All that engines must do, on a device that stays open meanwhile. */
@NeedsGpu
class SharedGpuTablesConformanceTest extends JoinEngineConformance {

    /** Each engine is two here: pinning large buffers for both would take most of the time. */
    private static final GpuOptions SMALL = GpuOptions.defaults().withSlots(8, 1024);

    private static AutoCloseable device;

    @BeforeAll
    static void openDevice() {
        device = GpuTestDevice.open(SMALL);
    }

    @AfterAll
    static void closeDevice() throws Exception {
        device.close();
    }

    @Override
    protected JoinEngineFactory factory() {
        return SharedTablesEngine.factory(
                new GpuJoinEngineFactory(SMALL),
                new SharedTables.Scope(new JobID(), new OperatorID()),
                MemoryReservations.unlimited());
    }

    @Override
    protected boolean separatesEqualHashes() {
        return false;
    }
}
