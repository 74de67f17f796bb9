// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Results are packed, and segments have up to three batches of packed results. */
class PackedHostDeviceConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return GpuOptions.defaults().withSlots(3, 9000).withPackResults(true);
    }
}
