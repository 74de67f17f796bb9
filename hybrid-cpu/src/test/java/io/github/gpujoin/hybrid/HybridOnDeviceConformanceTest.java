// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;

/** The device has room for everything. */
class HybridOnDeviceConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new LoggedHybrid(CpuJoinEngine::new, CpuJoinEngine::new);
    }

    @Override
    protected boolean appliesChanges() {
        return false;
    }
}
