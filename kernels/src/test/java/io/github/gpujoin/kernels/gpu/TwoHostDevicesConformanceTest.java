// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.List;

/** Two devices join together, each with all tables. */
class TwoHostDevicesConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return super.options().withDevices(List.of(0, 1)).withSpread(TableSpread.REPLICATED);
    }
}
