package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import java.util.concurrent.TimeUnit;

/** Two small slots: chunks take many segments, and segments many steps. */
@NeedsGpu
class SmallSlotsConformanceTest extends JoinEngineConformance {

    private static final GpuOptions SMALL =
            new GpuOptions(0, 2, 500, MemoryBudget.byMachine(), TimeUnit.SECONDS.toNanos(20));

    @Override
    protected JoinEngineFactory factory() {
        return new GpuJoinEngineFactory(SMALL);
    }
}
