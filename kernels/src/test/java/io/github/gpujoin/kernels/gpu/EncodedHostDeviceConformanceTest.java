// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Facts are encoded, and segments have up to three tiles. */
class EncodedHostDeviceConformanceTest extends HostDeviceConformanceTest {

    @Override
    GpuOptions options() {
        return GpuOptions.defaults().withSlots(4, 2500).withEncodeSegments(true);
    }
}
