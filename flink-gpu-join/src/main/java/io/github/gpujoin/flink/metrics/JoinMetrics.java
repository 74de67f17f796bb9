// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.core.engine.EngineStats;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.api.options.MetricLevel;
import io.github.gpujoin.flink.engine.DividedEngine;
import io.github.gpujoin.flink.engine.EngineStatus;
import io.github.gpujoin.flink.metrics.StageTimes.Stage;
import io.github.gpujoin.flink.state.LogBytes;
import io.github.gpujoin.flink.state.ProbeLog;
import io.github.gpujoin.hybrid.MemoryTier;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.gpu.GpuJoinEngine;
import java.util.Collection;
import java.util.EnumMap;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Registers all metrics of the operator, in the group {@code gpuJoin}, and names them. Metrics of
 * packers and senders are in their own operators' groups. A pair of groups such as {@code
 * reason.NO_DRIVER.fallbacks} is a label in Prometheus. docs/operations.md lists all metrics.
 *
 * <p>The reporter's thread reads values at any time, so suppliers must be thread-safe.
 */
public final class JoinMetrics {

    /** What may become of tables on several devices. */
    private static final Set<DeviceSpread> SPREADS =
            EnumSet.of(DeviceSpread.REPLICATED, DeviceSpread.SHARDED, DeviceSpread.PLACED);

    /** Name of the group of all metrics of a join. */
    public static final String GROUP = "gpuJoin";

    private final MetricGroup group;
    private final MetricLevel level;
    private final Map<GpuFailure, Counter> fallbacks = new EnumMap<>(GpuFailure.class);

    public JoinMetrics(MetricGroup operatorGroup, MetricLevel level) {
        this.group = operatorGroup.addGroup(GROUP);
        this.level = level;
        for (GpuFailure reason : GpuFailure.values()) {
            fallbacks.put(reason, group.addGroup("reason", reason.name()).counter("fallbacks"));
        }
    }

    private void gauge(String name, Supplier<? extends Number> value) {
        gauge(group, name, value);
    }

    private static void gauge(MetricGroup group, String name, Supplier<? extends Number> value) {
        group.gauge(name, (Gauge<Number>) value::get);
    }

    /** Number of fallbacks for the reason. */
    public Counter fallbacks(GpuFailure reason) {
        return fallbacks.get(reason);
    }

    /** Late facts of a join with a versioned dimension. */
    public Counter lateFacts() {
        return group.counter("lateFacts");
    }

    /** Late versions. */
    public Counter lateVersions() {
        return group.counter("lateVersions");
    }

    /** Rows of dimensions that arrived after the dimension was complete. */
    public Counter lateDimensionRows() {
        return group.counter("lateDimensionRows");
    }

    /** Facts and versions that wait for their event time. */
    public void waitingForEventTime(Supplier<Long> rows) {
        gauge("rowsWaitingForEventTime", rows);
    }

    /** Facts whose time to live ended while they waited for the dimensions. */
    public Counter expiredFacts() {
        return group.counter("expiredFacts");
    }

    /** Expired rows of dimensions. */
    public Counter expiredRows() {
        return group.counter("expiredRows");
    }

    /**
     * Registers counts of rows and the build progress.
     *
     * @param dimensions names, in order
     */
    public void rows(SubtaskCounts counts, List<String> dimensions) {
        gauge("buildRows", counts.build()::allRows);
        gauge("buildChunks", counts.build()::chunks);
        gauge("buildProgress", counts::buildProgress);
        gauge("buildSkew", counts.build()::skew);
        gauge("probeRows", counts::probeRows);
        gauge("probeChunks", counts::probeChunks);
        gauge("heavyHitterShare", counts.factKeys()::largestShare);
        for (Stage stage : Stage.values()) {
            gauge(
                    group.addGroup("stage", stage.name()),
                    "timeMs",
                    () -> counts.times().timeMs(stage));
        }
        if (level == MetricLevel.ALL) {
            gauge("largestPartitionRows", () -> counts.build().partitions().maxRows());
            gauge("medianPartitionRows", () -> counts.build().partitions().medianRows());
            for (int d = 0; d < dimensions.size(); d++) {
                int dimension = d;
                MetricGroup side = group.addGroup("dimension", dimensions.get(d));
                gauge(side, "rows", () -> counts.build().rows(dimension));
                gauge(side, "bytes", () -> counts.build().bytes(dimension));
            }
        }
    }

    public void logged(LogBytes bytes) {
        bytes.register(group);
    }

    public void results(JoinEngine engine, ProbeLog waiting) {
        stat("joinedRows", engine, EngineStats::probeRows);
        stat("resultRows", engine, EngineStats::resultRows);
        stat("tableBytes", engine, EngineStats::tableBytes);
        gauge("waitingProbeChunks", waiting::size);
        gauge("inFlightProbeChunks", engine::inFlightCount);
        gauge("offHeapBytes", Region::openBytes);
        gauge("hostBytes", () -> CpuJoinEngineFactory.memoryUse().usedBytes());
    }

    /**
     * Registers the memory into which others write chunks for the subtask.
     *
     * @param ringBytes managed memory of the rings
     * @param exchangeBytes managed memory of the slots of local exchange
     * @param ringBytesCopied bytes that the CPU copied out of rings
     * @param heldSlots slots of rings for which writers have no credit
     * @param engine which may copy facts for a GPU
     */
    public void slots(
            long ringBytes,
            long exchangeBytes,
            Supplier<Long> ringBytesCopied,
            Supplier<Integer> heldSlots,
            EngineStatus engine) {
        gauge("ringBytes", () -> ringBytes);
        gauge("exchangeBytes", () -> exchangeBytes);
        gauge("heldSlots", heldSlots);
        gauge(
                "payloadBytesCopied",
                () -> {
                    long forGpu =
                            engine.current() instanceof GpuJoinEngine gpu
                                    ? gpu.payloadBytesCopied()
                                    : 0;
                    return ringBytesCopied.get() + forGpu;
                });
    }

    private void stat(String name, JoinEngine engine, ToLongFunction<EngineStats> value) {
        gauge(name, () -> value.applyAsLong(engine.stats()));
    }

    public void fanOut(FanOutMonitor watch) {
        gauge("maxFanOut", watch::maxFanOut);
    }

    /**
     * @param engines names of the engines that may join
     * @param partitions that the subtask owns
     */
    public void engine(EngineStatus engine, Collection<String> engines, int partitions) {
        group.gauge("engine", (Gauge<String>) engine::engineName);
        for (String name : engines) {
            gauge(
                    group.addGroup("onEngine", name),
                    "partitions",
                    () -> partitions(engine, name, partitions));
        }
        for (DeviceSpread spread : SPREADS) {
            gauge(
                    group.addGroup("spread", spread.name()),
                    "tables",
                    () -> engine.tableCount(spread));
        }
        gpuGauge("kernelHeartbeat", engine, GpuJoinEngine::kernelHeartbeat);
        gpuGauge("deviceBytes", engine, gpu -> gpu.memoryUse().deviceBytes());
        gpuGauge("pinnedBytes", engine, gpu -> gpu.memoryUse().pinnedBytes());
    }

    private static int partitions(EngineStatus engine, String name, int owned) {
        List<PartitionClass> divided = engine.partitionClasses();
        if (divided.isEmpty()) {
            return engine.engineName().equals(name) ? owned : 0;
        }
        return divided.stream()
                .filter(joined -> joined.engine().equals(name))
                .mapToInt(PartitionClass::partitions)
                .sum();
    }

    /** A gauge of the GPU engine; 0 while another engine joins. */
    private void gpuGauge(String name, EngineStatus engine, ToLongFunction<GpuJoinEngine> value) {
        gauge(
                name,
                () -> engine.current() instanceof GpuJoinEngine gpu ? value.applyAsLong(gpu) : 0L);
    }

    /**
     * @param share of the build bytes of the TaskManager, 0 while it is unknown
     */
    public void buildShare(Supplier<Double> share) {
        gauge("buildShare", share);
    }

    /**
     * @param spilledFactBytes bytes of deferred facts
     */
    public void divided(DividedEngine engine, Supplier<Long> spilledFactBytes) {
        for (MemoryTier tier : MemoryTier.values()) {
            gauge(
                    group.addGroup("tier", tier.name()),
                    "partitionGroups",
                    () -> engine.groupCountIn(tier));
        }
        gauge("spilledFactBytes", spilledFactBytes);
        gauge("deviceSkew", engine.engine()::memberSkew);
    }
}
