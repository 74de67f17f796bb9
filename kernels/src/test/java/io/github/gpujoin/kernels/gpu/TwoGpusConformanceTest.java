// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.List;

/** Two GPUs join together, each with all tables. */
@NeedsTwoGpus
class TwoGpusConformanceTest extends GpuConformance {

    TwoGpusConformanceTest() {
        super(
                GpuOptions.defaults()
                        .withSlots(8, 1000)
                        .withDevices(List.of(0, 1))
                        .withSpread(TableSpread.REPLICATED));
    }
}
