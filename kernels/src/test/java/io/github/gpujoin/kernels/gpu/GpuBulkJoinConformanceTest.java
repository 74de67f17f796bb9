// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;

@NeedsGpu
class GpuBulkJoinConformanceTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new GpuBulkJoin(spec, GpuOptions.defaults(), MemoryReservations.unlimited(), null);
    }
}
