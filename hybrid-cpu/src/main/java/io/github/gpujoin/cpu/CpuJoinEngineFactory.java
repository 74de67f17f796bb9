package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;

/** Makes {@link CpuJoinEngine}s. */
public final class CpuJoinEngineFactory implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    @Override
    public String engineName() {
        return "cpu";
    }

    @Override
    public JoinEngine create(JoinSpec spec) {
        return new CpuJoinEngine(spec);
    }
}
