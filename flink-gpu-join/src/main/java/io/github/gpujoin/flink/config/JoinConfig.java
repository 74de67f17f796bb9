// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.config;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.hybrid.HybridOptions;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.JoinShare;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.stream.Stream;
import org.apache.flink.configuration.ConfigOption;
import org.apache.flink.configuration.IllegalConfigurationException;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.ReadableConfig;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.RestartStrategyOptions.RestartStrategyType;

/**
 * Reads the values of {@link GpuJoinOptions} and checks their bounds. A method whose name ends in
 * {@code Bytes} or {@code Ms} returns bytes or milliseconds. Each throws an {@link
 * IllegalConfigurationException} if the value is out of bounds.
 */
public final class JoinConfig {

    /** The weight of Flink's hash join of tables. */
    private static final int MANAGED_MEMORY_WEIGHT = 128;

    private static final OptionBounds BOUNDS =
            new OptionBounds()
                    .range(
                            GpuJoinOptions.CHUNK_BYTES,
                            new MemorySize(1),
                            MemorySize.ofMebiBytes(16))
                    .range(GpuJoinOptions.FLUSH_INTERVAL, Duration.ofMillis(1), Duration.ofHours(1))
                    .atLeast(GpuJoinOptions.REPLICATE_MAX_BYTES, MemorySize.ZERO)
                    .atLeast(GpuJoinOptions.GPU_DEVICE_MEMORY, MemorySize.ZERO)
                    .atLeast(GpuJoinOptions.GPU_PINNED_MEMORY, MemorySize.ZERO)
                    .atLeast(GpuJoinOptions.GPU_KEPT_MEMORY, MemorySize.ZERO)
                    .range(GpuJoinOptions.GPU_BULK_THREADS, 0, GpuOptions.MAX_BULK_THREADS)
                    .range(GpuJoinOptions.GPU_WEIGHT, JoinShare.MIN_WEIGHT, JoinShare.MAX_WEIGHT)
                    .range(
                            GpuJoinOptions.GPU_STALL_TIMEOUT,
                            Duration.ofMillis(1),
                            Duration.ofHours(1))
                    .atLeast(GpuJoinOptions.CPU_MEMORY, MemorySize.ofMebiBytes(16))
                    .range(GpuJoinOptions.PARTITION_GROUPS, 0, HybridOptions.MAX_PARTITION_GROUPS)
                    .range(GpuJoinOptions.SPILL_DELAY, Duration.ofMillis(1), Duration.ofHours(1))
                    .range(GpuJoinOptions.GROUP_INTERVAL, Duration.ZERO, Duration.ofHours(1))
                    .atLeast(GpuJoinOptions.FAN_OUT_WARNING, 2)
                    .range(
                            GpuJoinOptions.FACT_FILTER_MAX_BYTES,
                            new MemorySize(1024),
                            MemorySize.ofMebiBytes(1024))
                    .inWords(GpuJoinOptions.GPU_DEVICES, "`all`, or distinct numbers from 0")
                    .inWords(GpuJoinOptions.TRANSPORT, "`flink`, or a transport on the class path")
                    .inWords(GpuJoinOptions.RING_BIND_ADDRESS, "one address of the host")
                    .range(GpuJoinOptions.RING_SLOTS, 1, 1024)
                    .range(GpuJoinOptions.RING_MAX_RINGS, 1, 1 << 16)
                    .range(
                            GpuJoinOptions.RING_PEER_TIMEOUT,
                            Duration.ofMillis(60),
                            Duration.ofHours(1))
                    .range(GpuJoinOptions.RING_OPEN_TIMEOUT, Duration.ZERO, Duration.ofHours(1));

    private JoinConfig() {}

    /**
     * Rejects misspelt keys, unreadable values and values out of bounds, also of options that the
     * join does not use. The code that uses {@link GpuJoinOptions#TRANSPORT} and {@link
     * GpuJoinOptions#RING_BIND_ADDRESS} checks their values.
     *
     * @throws IllegalConfigurationException with the option and its value
     */
    public static void check(ReadableConfig config) {
        GpuJoinOptions.check(config);
        BOUNDS.check(config);
    }

    /** Returns the bounds of the options that have any. */
    static OptionBounds bounds() {
        return BOUNDS;
    }

    /** Returns {@link GpuJoinOptions#CHUNK_BYTES}. */
    public static int chunkBytes(ReadableConfig config) {
        return (int) BOUNDS.read(config, GpuJoinOptions.CHUNK_BYTES).getBytes();
    }

    /** Returns {@link GpuJoinOptions#FACT_FILTER_MAX_BYTES}. */
    public static int factFilterMaxBytes(ReadableConfig config) {
        return (int) BOUNDS.read(config, GpuJoinOptions.FACT_FILTER_MAX_BYTES).getBytes();
    }

    /** Returns {@link GpuJoinOptions#REPLICATE_MAX_BYTES}. */
    public static long replicateMaxBytes(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.REPLICATE_MAX_BYTES).getBytes();
    }

    /** Returns {@link GpuJoinOptions#GROUP_INTERVAL}. */
    public static long groupIntervalMs(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.GROUP_INTERVAL).toMillis();
    }

    /** Returns {@link GpuJoinOptions#FAN_OUT_WARNING}. */
    public static int fanOutWarning(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.FAN_OUT_WARNING);
    }

    /** Returns {@link GpuJoinOptions#FLUSH_INTERVAL}. */
    public static long flushIntervalMs(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.FLUSH_INTERVAL).toMillis();
    }

    /**
     * Returns {@link GpuJoinOptions#UNITS}: the number of partition groups of each subtask, or 0 if
     * the join chooses it.
     */
    public static int partitionGroups(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.PARTITION_GROUPS);
    }

    /** Returns {@link GpuJoinOptions#SPILL_DELAY}. */
    public static long spillDelayMs(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.SPILL_DELAY).toMillis();
    }

    /** Returns {@link GpuJoinOptions#CPU_MEMORY}, or {@link Long#MAX_VALUE} if it is not set. */
    public static long cpuMemoryBytes(ReadableConfig config) {
        MemorySize set = BOUNDS.read(config, GpuJoinOptions.CPU_MEMORY);
        return set == null ? Long.MAX_VALUE : set.getBytes();
    }

    /**
     * Returns the weight of a join among the operators of its slots: its memory in MiB, like
     * Flink's table operators.
     */
    public static int managedMemoryWeight(ReadableConfig config) {
        long bytes = cpuMemoryBytes(config);
        return bytes == Long.MAX_VALUE
                ? MANAGED_MEMORY_WEIGHT
                : (int) Math.min(Integer.MAX_VALUE, bytes >> 20);
    }

    /** Returns {@link GpuJoinOptions#RING_SLOTS}. */
    public static int ringSlots(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.RING_SLOTS);
    }

    /** Returns {@link GpuJoinOptions#RING_MAX_RINGS}. */
    public static int ringMaxRings(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.RING_MAX_RINGS);
    }

    /** Returns {@link GpuJoinOptions#RING_PEER_TIMEOUT}. */
    public static long ringPeerTimeoutMs(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.RING_PEER_TIMEOUT).toMillis();
    }

    /** Returns {@link GpuJoinOptions#RING_OPEN_TIMEOUT}. */
    public static long ringOpenTimeoutMs(ReadableConfig config) {
        return BOUNDS.read(config, GpuJoinOptions.RING_OPEN_TIMEOUT).toMillis();
    }

    /**
     * Returns all options under {@code gpu-join.gpu}. A memory limit that is not set is {@link
     * MemoryBudget#BY_MACHINE}.
     */
    public static GpuOptions gpuOptions(ReadableConfig config) {
        GpuOptions defaults = GpuOptions.defaults();
        return defaults.withDevices(gpuDevices(config))
                .withMemory(
                        new MemoryBudget(
                                budget(config, GpuJoinOptions.GPU_DEVICE_MEMORY),
                                budget(config, GpuJoinOptions.GPU_PINNED_MEMORY),
                                BOUNDS.read(config, GpuJoinOptions.GPU_KEPT_MEMORY).getBytes()))
                .withBulkThreads(bulkThreads(config, defaults.bulkThreads()))
                .withRingMemory(config.get(GpuJoinOptions.GPU_RING_MEMORY))
                .withGridMode(config.get(GpuJoinOptions.GPU_GRID))
                .withSpread(config.get(GpuJoinOptions.GPU_SPREAD))
                .withPeerAccess(config.get(GpuJoinOptions.GPU_PEER_ACCESS))
                .withShare(new JoinShare(null, BOUNDS.read(config, GpuJoinOptions.GPU_WEIGHT)))
                .withEncodeSegments(config.get(GpuJoinOptions.GPU_ENCODE_FACTS))
                .withStallTimeoutNs(
                        BOUNDS.read(config, GpuJoinOptions.GPU_STALL_TIMEOUT).toNanos());
    }

    /**
     * Returns how many failures of tasks the restart strategy of a job in batch mode allows: 0
     * without a strategy, since Flink's default of other jobs needs checkpoints. Failures that a
     * strategy counts in an interval, or as one, are not distinguished.
     */
    public static int allowedFailures(ReadableConfig config) {
        String strategy = config.get(RestartStrategyOptions.RESTART_STRATEGY);
        if (strategy == null) {
            return 0;
        }
        return switch (RestartStrategyType.of(strategy.toLowerCase(Locale.ROOT))) {
            case NO_RESTART_STRATEGY -> 0;
            case FIXED_DELAY ->
                    config.get(RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS);
            case FAILURE_RATE ->
                    config.get(
                            RestartStrategyOptions
                                    .RESTART_STRATEGY_FAILURE_RATE_MAX_FAILURES_PER_INTERVAL);
            case EXPONENTIAL_DELAY ->
                    config.get(RestartStrategyOptions.RESTART_STRATEGY_EXPONENTIAL_DELAY_ATTEMPTS);
        };
    }

    private static int bulkThreads(ReadableConfig config, int unset) {
        Integer set = BOUNDS.read(config, GpuJoinOptions.GPU_BULK_THREADS);
        return set == null ? unset : set;
    }

    /** Returns {@link GpuJoinOptions#GPU_DEVICES}, empty for all. */
    private static List<Integer> gpuDevices(ReadableConfig config) {
        String devices = config.get(GpuJoinOptions.GPU_DEVICES).strip();
        if (devices.equalsIgnoreCase(GpuJoinOptions.GPU_DEVICES.defaultValue())) {
            return GpuOptions.ALL_DEVICES;
        }
        try {
            List<Integer> numbers =
                    Stream.of(devices.split(",", -1))
                            .map(number -> Integer.parseUnsignedInt(number.strip()))
                            .distinct()
                            .toList();
            if (numbers.size() == devices.split(",", -1).length) {
                return numbers;
            }
        } catch (NumberFormatException e) {
            // Reported below.
        }
        throw new IllegalConfigurationException(
                "Devices are not \"all\" or distinct numbers: %s=%s. Write for example 0,1.",
                GpuJoinOptions.GPU_DEVICES.key(), devices);
    }

    private static long budget(ReadableConfig config, ConfigOption<MemorySize> option) {
        MemorySize set = BOUNDS.read(config, option);
        return set == null ? MemoryBudget.BY_MACHINE : set.getBytes();
    }
}
