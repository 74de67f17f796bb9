// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

@NeedsGpu
class GpuBulkJoinConformanceTest extends SharedDeviceBulkConformance {

    GpuBulkJoinConformanceTest() {
        super(GpuOptions.defaults());
    }
}
