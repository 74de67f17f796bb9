package io.github.gpujoin.kernels.gpu;

/** The engine as it is by default. */
@NeedsGpu
class GpuJoinEngineConformanceTest extends GpuConformance {

    GpuJoinEngineConformanceTest() {
        super(GpuOptions.defaults());
    }
}
