package io.github.gpujoin.kernels.gpu;

/** Blocks dealt to lanes of partitions for good. */
@NeedsGpu
class StaticGridConformanceTest extends GpuConformance {

    StaticGridConformanceTest() {
        super(GpuOptions.defaults().withSlots(64, 1000).withGridMode(GridMode.STATIC));
    }
}
