// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import java.util.List;

/** Two GPUs exchange all rows. */
@NeedsTwoGpus
class GpuGroupBulkJoinConformanceTest extends SharedDeviceBulkConformance {

    GpuGroupBulkJoinConformanceTest() {
        super(GpuOptions.defaults().withDevices(List.of(0, 1)));
    }

    @Override
    BulkJoin create(BulkJoinSpec spec, BulkDevices devices) {
        return new GpuBulkJoin(spec, devices, null, replicatedRows());
    }

    long replicatedRows() {
        return -1;
    }
}
