package io.github.gpujoin.kernels.gpu;

/** Segments by copies to device memory, several in a copy, many times around the ring. */
@NeedsGpu
class DeviceRingConformanceTest extends GpuConformance {

    DeviceRingConformanceTest() {
        super(GpuOptions.defaults().withSlots(8, 500).withRingMemory(RingMemory.DEVICE));
    }
}
