// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** The engine with default options. */
@NeedsGpu
class GpuJoinEngineConformanceTest extends GpuConformance {

    GpuJoinEngineConformanceTest() {
        super(GpuOptions.defaults());
    }
}
