// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;

/** Creates CPU engines, and counts them: those that replace a failed device. */
final class CountedCpuFactory implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final CpuJoinEngineFactory cpu = new CpuJoinEngineFactory();
    private int engines;

    @Override
    public String engineName() {
        return cpu.engineName();
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        engines++;
        return cpu.create(spec);
    }

    int engineCount() {
        return engines;
    }
}
