// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Two small slots: a chunk needs many segments, and a segment many steps. */
@NeedsGpu
class SmallSlotsConformanceTest extends GpuConformance {

    SmallSlotsConformanceTest() {
        super(GpuOptions.defaults().withSlots(2, 500));
    }
}
