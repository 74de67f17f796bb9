// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

/** Three emulated devices exchange all rows. */
class RepartitionedHostBulkJoinConformanceTest extends BulkJoinConformance {

    /** With larger areas of runs, the emulated devices would mostly fill their memory. */
    private static final GpuOptions OPTIONS =
            GpuOptions.defaults().withMemory(new MemoryBudget(256 << 20, MemoryBudget.BY_MACHINE));

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        BulkDevices devices =
                HostBulkDevice.group(
                        OPTIONS, new HostBulkDevice(), new HostBulkDevice(), new HostBulkDevice());
        return new GpuBulkJoin(spec, devices, null, -1);
    }

    /** Other data than that of the other classes. */
    @Override
    protected long firstSeed() {
        return 8;
    }

    @Override
    protected int seeds() {
        return 3;
    }
}
