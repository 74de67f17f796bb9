// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;

class SharedTablesEngineConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return SharedTablesEngine.factory(
                new CpuJoinEngineFactory(),
                new SharedTables.Scope(new JobID(), new OperatorID()),
                MemoryReservations.unlimited());
    }
}
