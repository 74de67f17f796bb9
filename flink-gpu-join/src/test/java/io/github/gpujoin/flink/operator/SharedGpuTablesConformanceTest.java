package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import java.util.EnumSet;
import java.util.Set;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;

@NeedsGpu
class SharedGpuTablesConformanceTest extends JoinEngineConformance {

    @Override
    protected Set<JoinKind> kinds() {
        return EnumSet.of(JoinKind.INNER, JoinKind.SEMI);
    }

    @Override
    protected JoinEngineFactory factory() {
        // Each engine is two here: pinning large buffers for both would take most of the time.
        GpuOptions small = GpuOptions.defaults().withSlots(8, 1024);
        return SharedTablesEngine.factory(
                new GpuJoinEngineFactory(small),
                new SharedTables.Scope(new JobID(), new OperatorID()));
    }
}
