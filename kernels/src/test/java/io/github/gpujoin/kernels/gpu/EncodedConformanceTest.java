// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Facts are encoded. */
@NeedsGpu
class EncodedConformanceTest extends GpuConformance {

    EncodedConformanceTest() {
        super(GpuOptions.defaults().withSlots(8, 5000).withEncodeSegments(true));
    }
}
