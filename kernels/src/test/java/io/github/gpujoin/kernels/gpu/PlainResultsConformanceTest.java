// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Results are never packed. */
@NeedsGpu
class PlainResultsConformanceTest extends GpuConformance {

    PlainResultsConformanceTest() {
        super(GpuOptions.defaults().withPackResults(false));
    }
}
