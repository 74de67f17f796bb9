package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.NeedsGpu;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;

@NeedsGpu
class SharedGpuTablesConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return SharedTablesEngine.factory(
                new GpuJoinEngineFactory(), new SharedTables.Scope(new JobID(), new OperatorID()));
    }
}
