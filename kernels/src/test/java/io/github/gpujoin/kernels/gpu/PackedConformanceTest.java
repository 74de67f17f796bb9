// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Facts are encoded and results packed, in segments of up to three batches. */
@NeedsGpu
class PackedConformanceTest extends GpuConformance {

    PackedConformanceTest() {
        super(
                GpuOptions.defaults()
                        .withSlots(8, 9000)
                        .withEncodeSegments(true)
                        .withPackResults(true));
    }
}
