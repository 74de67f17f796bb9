// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Blocks assigned to lanes once. */
@NeedsGpu
class StaticGridConformanceTest extends GpuConformance {

    StaticGridConformanceTest() {
        super(GpuOptions.defaults().withSlots(64, 1000).withGridMode(GridMode.STATIC));
    }
}
