// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.List;

/** Three devices join together, each with a shard of every table. */
class ShardedHostDevicesConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return super.options().withDevices(List.of(0, 1, 2)).withSpread(TableSpread.SHARDED);
    }
}
