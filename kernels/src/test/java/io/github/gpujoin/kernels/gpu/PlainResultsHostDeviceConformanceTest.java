// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Results are never packed. */
class PlainResultsHostDeviceConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return super.options().withPackResults(false);
    }
}
