// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinEngineConformance;
import io.github.gpujoin.core.engine.JoinEngineFactory;

class CpuJoinEngineConformanceTest extends JoinEngineConformance {

    @Override
    protected JoinEngineFactory factory() {
        return new CpuJoinEngineFactory();
    }
}
