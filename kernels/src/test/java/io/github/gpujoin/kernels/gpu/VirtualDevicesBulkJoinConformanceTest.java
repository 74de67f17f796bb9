// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

/** Two members on one GPU exchange all rows. */
@NeedsGpu
class VirtualDevicesBulkJoinConformanceTest extends SharedDeviceBulkConformance {

    VirtualDevicesBulkJoinConformanceTest() {
        super(GpuOptions.defaults().withVirtualDevices(2));
    }

    @Override
    BulkJoin create(BulkJoinSpec spec, BulkDevices devices) {
        return new GpuBulkJoin(spec, devices, null, -1);
    }
}
