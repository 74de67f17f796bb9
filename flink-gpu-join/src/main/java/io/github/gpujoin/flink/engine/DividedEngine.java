// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.hybrid.BuildChunks;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.HybridOptions;
import io.github.gpujoin.hybrid.MemoryTier;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * A subtask's engine with a build side divided over the device and the host.
 *
 * @param device engine of the device, or null
 */
public record DividedEngine(
        HybridJoinEngine engine, JoinEngineFactory device, JoinEngineFactory host)
        implements EngineStatus {

    /** Stands for an engine's name: tables are built from state while they are probed. */
    static final String STATE = "state";

    static DividedEngine open(
            JoinSpec spec,
            DimensionPartitioning division,
            KeyGroupRange partitions,
            JoinEngineFactory device,
            JoinEngineFactory host,
            BuildChunks log,
            Consumer<GpuUnavailableException> onFallback) {
        HybridOptions options =
                new HybridOptions(
                        division.dimension(),
                        partitions.getStartKeyGroup(),
                        partitions.getNumberOfKeyGroups(),
                        division.units());
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        spec,
                        options,
                        device,
                        host,
                        log,
                        lost -> onFallback.accept(asGpuFailure(lost)));
        return new DividedEngine(engine, device, host);
    }

    /** The failure of the device; a lack of host memory counts as a lack of device memory. */
    private static GpuUnavailableException asGpuFailure(EngineUnavailableException lost) {
        if (lost instanceof GpuUnavailableException failed) {
            return failed;
        }
        return new GpuUnavailableException(
                lost.scope() == EngineUnavailableException.Scope.NO_MEMORY
                        ? GpuFailure.OUT_OF_DEVICE_MEMORY
                        : GpuFailure.DEVICE_LOST,
                lost.getMessage(),
                lost);
    }

    @Override
    public String engineName() {
        List<MemoryTier> tiers = engine.tiers();
        if (!tiers.contains(MemoryTier.DEVICE)) {
            return host.engineName();
        }
        boolean onlyThere = tiers.stream().allMatch(tier -> tier == MemoryTier.DEVICE);
        return onlyThere ? device.engineName() : device.engineName() + "+" + host.engineName();
    }

    @Override
    public ReasonCode reason() {
        EngineUnavailableException failed = engine.deviceFailure();
        if (failed != null) {
            return GpuFailureReason.of(asGpuFailure(failed).failure());
        }
        return device == null ? ReasonCode.ASKED : ReasonCode.PREFERRED;
    }

    @Override
    public List<PartitionClass> partitionClasses() {
        return engine.tierUsage().stream()
                .map(
                        rows ->
                                new PartitionClass(
                                        rows.partitionCount(),
                                        engineAt(rows.tier()),
                                        reasonFor(rows.tier()),
                                        rows.buildBytes()))
                .toList();
    }

    private String engineAt(MemoryTier tier) {
        return switch (tier) {
            case DEVICE -> device.engineName();
            case HOST -> host.engineName();
            case SPILLED -> STATE;
        };
    }

    /** The host joins what the device has no room for, or all without a device. */
    private ReasonCode reasonFor(MemoryTier tier) {
        ReasonCode reason = reason();
        return switch (tier) {
            case DEVICE -> reason;
            case HOST -> reason == ReasonCode.PREFERRED ? ReasonCode.OVER_DEVICE_BUDGET : reason;
            case SPILLED -> ReasonCode.OVER_HOST_BUDGET;
        };
    }

    @Override
    public JoinEngine current() {
        return engine.fastestEngine();
    }

    public long unitsIn(MemoryTier tier) {
        return engine.tiers().stream().filter(t -> t == tier).count();
    }
}
