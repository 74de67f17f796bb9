package io.github.gpujoin.kernels.gpu;

/** Two small slots: chunks take many segments, and segments many steps. */
@NeedsGpu
class SmallSlotsConformanceTest extends GpuConformance {

    SmallSlotsConformanceTest() {
        super(GpuOptions.defaults().withSlots(2, 500));
    }
}
