// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/** Segments copied to device memory in batches, with many wraps of the ring. */
@NeedsGpu
class DeviceRingConformanceTest extends GpuConformance {

    DeviceRingConformanceTest() {
        super(GpuOptions.defaults().withSlots(8, 500).withRingMemory(RingMemory.DEVICE));
    }
}
