// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.hybrid.BuildChunks;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.HybridOptions;
import io.github.gpujoin.hybrid.MemoryTier;
import io.github.gpujoin.hybrid.TierUsage;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.List;
import java.util.function.Consumer;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.jspecify.annotations.Nullable;

/**
 * A subtask's engine whose build side is divided over the device, the host and state.
 *
 * @param engine joins in all memory tiers; the caller closes it
 * @param dimension the divided one
 * @param device creates engines of the device; null if there is no device
 * @param host creates engines of the host
 */
public record DividedEngine(
        HybridJoinEngine engine,
        int dimension,
        @Nullable JoinEngineFactory device,
        JoinEngineFactory host)
        implements EngineStatus {

    /** Name of the engine of spilled partitions, whose tables are built from state for a probe. */
    static final String STATE = "state";

    /**
     * Opens the engine for the partitions that a subtask owns.
     *
     * @param log build chunks from which tables are rebuilt
     * @param onFallback receives the reason when the engine stops using the device
     */
    static DividedEngine open(
            JoinSpec spec,
            DimensionPartitioning division,
            KeyGroupRange partitions,
            @Nullable JoinEngineFactory device,
            JoinEngineFactory host,
            BuildChunks log,
            Consumer<GpuUnavailableException> onFallback) {
        HybridOptions options =
                new HybridOptions(
                        division.dimension(),
                        partitions.getStartKeyGroup(),
                        partitions.getNumberOfKeyGroups(),
                        division.groupCount());
        HybridJoinEngine engine =
                new HybridJoinEngine(
                        spec,
                        options,
                        device,
                        host,
                        log,
                        lost -> onFallback.accept(asGpuFailure(lost)));
        return new DividedEngine(engine, division.dimension(), device, host);
    }

    /** Returns a failure as a GPU failure, also one that no GPU code threw. */
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
        boolean isDeviceOnly = tiers.stream().allMatch(tier -> tier == MemoryTier.DEVICE);
        return isDeviceOnly ? device.engineName() : device.engineName() + "+" + host.engineName();
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
        List<String> devices = devices();
        return engine.tierUsage().stream()
                .map(
                        usage ->
                                new PartitionClass(
                                        usage.partitionCount(),
                                        engineAt(usage.tier()),
                                        reasonFor(usage.tier()),
                                        usage.buildBytes(),
                                        spreadOf(usage, devices),
                                        devicesOf(usage, devices)))
                .toList();
    }

    private static DeviceSpread spreadOf(TierUsage usage, List<String> devices) {
        if (usage.tier() != MemoryTier.DEVICE || devices.isEmpty()) {
            return DeviceSpread.NONE;
        }
        if (usage.location().isPlaced()) {
            return DeviceSpread.PLACED;
        }
        return usage.isSharded() ? DeviceSpread.SHARDED : DeviceSpread.REPLICATED;
    }

    private static List<String> devicesOf(TierUsage usage, List<String> devices) {
        return switch (spreadOf(usage, devices)) {
            case NONE, BY_SIZE -> List.of();
            case PLACED -> List.of(devices.get(usage.location().member()));
            case REPLICATED, SHARDED -> devices;
        };
    }

    @Override
    public long tableCount(DeviceSpread spread) {
        List<String> devices = devices();
        long divided =
                engine.tierUsage().stream()
                        .filter(usage -> spreadOf(usage, devices) == spread)
                        .mapToLong(TierUsage::partitionGroupCount)
                        .sum();
        return divided + EngineStatus.super.tableCount(spread);
    }

    @Override
    public DeviceSpread spread(int number) {
        return number == dimension ? DeviceSpread.NONE : EngineStatus.super.spread(number);
    }

    private String engineAt(MemoryTier tier) {
        return switch (tier) {
            case DEVICE -> device.engineName();
            case HOST -> host.engineName();
            case SPILLED -> STATE;
        };
    }

    /** The host joins partitions that exceed the device's budget, or all without a device. */
    private ReasonCode reasonFor(MemoryTier tier) {
        ReasonCode reason = reason();
        return switch (tier) {
            case DEVICE -> reason;
            case HOST -> reason == ReasonCode.PREFERRED ? ReasonCode.OVER_DEVICE_BUDGET : reason;
            case SPILLED -> ReasonCode.OVER_HOST_BUDGET;
        };
    }

    /** Returns an engine of the device or else of the host; null until its tables are built. */
    @Override
    public @Nullable JoinEngine current() {
        return engine.fastestEngine();
    }

    /** Number of partition groups in a memory tier. */
    public long groupCountIn(MemoryTier tier) {
        return engine.tiers().stream().filter(t -> t == tier).count();
    }
}
