package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;

@NeedsGpu
class GpuJoinEngineConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new GpuJoinEngineFactory();
    }
}
