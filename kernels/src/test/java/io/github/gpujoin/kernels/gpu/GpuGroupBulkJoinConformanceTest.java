// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.List;

/** Two GPUs exchange all rows. */
@NeedsTwoGpus
class GpuGroupBulkJoinConformanceTest extends BulkJoinConformance {

    private static final GpuOptions OPTIONS = GpuOptions.defaults().withDevices(List.of(0, 1));

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new GpuBulkJoin(
                spec,
                BulkDevices.open(OPTIONS, MemoryReservations.unlimited()),
                null,
                replicatedRows());
    }

    long replicatedRows() {
        return -1;
    }
}
