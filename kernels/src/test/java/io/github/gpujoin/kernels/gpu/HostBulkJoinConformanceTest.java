// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

/** The host's part of a bulk join on a GPU, on a device that the CPU emulates. */
class HostBulkJoinConformanceTest extends BulkJoinConformance {

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        return new GpuBulkJoin(spec, new HostBulkDevice().open(GpuOptions.defaults()), null);
    }
}
