// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

/** Inputs that leave an emulated device, for host memory. */
class OutOfCoreHostBulkJoinConformanceTest extends BulkJoinConformance {

    /** Enough for a few partitions, however long a row is. */
    private static final GpuOptions OPTIONS =
            GpuOptions.defaults().withMemory(new MemoryBudget(160 << 20, MemoryBudget.BY_MACHINE));

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        HostBulkDevice host = new HostBulkDevice();
        BulkJoin join = new GpuBulkJoin(spec, host.open(OPTIONS), null);
        host.refuseNextDeviceAllocation();
        return join;
    }

    /** Other data than that of the other classes. */
    @Override
    protected long firstSeed() {
        return 14;
    }

    @Override
    protected int seeds() {
        return 3;
    }
}
