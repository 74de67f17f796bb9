// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Two halves of a GPU join together, each with all tables. */
@NeedsGpu
class VirtualDevicesConformanceTest extends GpuConformance {

    VirtualDevicesConformanceTest() {
        super(
                GpuOptions.defaults()
                        .withSlots(8, 1000)
                        .withVirtualDevices(2)
                        .withSpread(TableSpread.REPLICATED));
    }
}
