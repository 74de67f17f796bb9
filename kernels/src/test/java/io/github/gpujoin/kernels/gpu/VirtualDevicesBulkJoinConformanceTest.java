// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;

/** Two members on one GPU exchange all rows. */
@NeedsGpu
class VirtualDevicesBulkJoinConformanceTest extends BulkJoinConformance {

    private static final GpuOptions OPTIONS = GpuOptions.defaults().withVirtualDevices(2);

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new GpuBulkJoin(
                spec, BulkDevices.open(OPTIONS, MemoryReservations.unlimited()), null, -1);
    }
}
