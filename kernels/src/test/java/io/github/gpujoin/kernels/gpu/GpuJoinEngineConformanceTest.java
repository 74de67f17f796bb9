package io.github.gpujoin.kernels.gpu;

/** The engine with default options. */
@NeedsGpu
class GpuJoinEngineConformanceTest extends GpuConformance {

    GpuJoinEngineConformanceTest() {
        super(GpuOptions.defaults());
    }
}
