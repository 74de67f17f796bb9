package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.config.GpuJoinOptions;

/** Picks the engine for a job. */
final class EngineSelection {

    private EngineSelection() {}

    static JoinEngineFactory select(GpuJoinOptions.Engine engine) {
        return switch (engine) {
            case AUTO, CPU -> new CpuJoinEngineFactory();
            case REFERENCE -> new ReferenceJoinEngineFactory();
        };
    }
}
