package io.github.gpujoin.kernels.gpu;

/** Blocks assigned to lanes once. */
@NeedsGpu
class StaticGridConformanceTest extends GpuConformance {

    StaticGridConformanceTest() {
        super(GpuOptions.defaults().withSlots(64, 1000).withGridMode(GridMode.STATIC));
    }
}
