// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Blocks assigned to lanes by their load. */
@NeedsGpu
class HistogramGridConformanceTest extends GpuConformance {

    HistogramGridConformanceTest() {
        super(GpuOptions.defaults().withSlots(64, 1000).withGridMode(GridMode.HISTOGRAM));
    }
}
