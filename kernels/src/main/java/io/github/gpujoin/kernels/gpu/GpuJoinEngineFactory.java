package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;

/** Makes {@link GpuJoinEngine}s. */
public final class GpuJoinEngineFactory implements JoinEngineFactory {

    private static final long serialVersionUID = 1L;

    private final GpuOptions options;

    public GpuJoinEngineFactory() {
        this(GpuOptions.defaults());
    }

    public GpuJoinEngineFactory(GpuOptions options) {
        this.options = options;
    }

    @Override
    public String engineName() {
        return "gpu";
    }

    /**
     * @throws io.github.gpujoin.kernels.binding.GpuUnavailableException where there is no device
     *     for this join
     */
    @Override
    public JoinEngine create(JoinSpec spec) {
        return new GpuJoinEngine(spec, options);
    }
}
