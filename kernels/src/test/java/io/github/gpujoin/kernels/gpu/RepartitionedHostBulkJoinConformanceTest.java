// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinConformance;
import io.github.gpujoin.core.bulk.BulkJoinSpec;

/** Three emulated devices exchange all rows. */
class RepartitionedHostBulkJoinConformanceTest extends BulkJoinConformance {

    @Override
    protected boolean supports(BulkJoinSpec spec) {
        return GpuBulkJoin.unsupported(spec).isEmpty();
    }

    @Override
    protected BulkJoin create(BulkJoinSpec spec) {
        BulkDevices devices =
                HostBulkDevice.group(
                        GpuOptions.defaults(),
                        new HostBulkDevice(),
                        new HostBulkDevice(),
                        new HostBulkDevice());
        return new GpuBulkJoin(spec, devices, null, -1);
    }
}
