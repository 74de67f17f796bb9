// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import io.github.gpujoin.cpu.CpuJoinEngineFactory;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.api.common.eventtime.WatermarkStrategy;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.connector.source.lib.NumberSequenceSource;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.MemorySize;
import org.apache.flink.configuration.RestartStrategyOptions;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.testutils.MiniClusterResourceConfiguration;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.functions.sink.v2.DiscardingSink;
import org.apache.flink.test.junit5.MiniClusterExtension;
import org.apache.flink.util.ExceptionUtils;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tables within the managed memory of a TaskManager: 24 MiB in each of its slots. */
@Timeout(120)
@ExtendWith(RegionLeakExtension.class)
class ManagedMemoryITCase {

    private static final int SLOTS = 4;
    private static final long SLOT_BYTES = 24 << 20;

    @RegisterExtension
    static final MiniClusterExtension CLUSTER =
            new MiniClusterExtension(
                    new MiniClusterResourceConfiguration.Builder()
                            .setNumberTaskManagers(1)
                            .setNumberSlotsPerTaskManager(SLOTS)
                            .setConfiguration(
                                    new Configuration()
                                            .set(
                                                    TaskManagerOptions.MANAGED_MEMORY_SIZE,
                                                    new MemorySize(SLOTS * SLOT_BYTES)))
                            .build());

    private static final AtomicLong RESULTS = new AtomicLong();
    private static final AtomicLong MAX_BYTES = new AtomicLong();
    private static final AtomicLong PEAK_BYTES = new AtomicLong();

    @BeforeEach
    void reset() {
        RESULTS.set(0);
        MAX_BYTES.set(0);
        PEAK_BYTES.set(0);
    }

    /** A number, twice. */
    public static class Pair {
        public long key;
        public long number;

        public Pair() {}
    }

    /** Joins as many facts as there are rows, and counts results and the memory of tables. */
    private static void run(int rows, boolean partitioned, String... options) throws Exception {
        Configuration config = new Configuration();
        config.setString(GpuJoinOptions.ENGINE.key(), "cpu");
        config.set(RestartStrategyOptions.RESTART_STRATEGY, "none");
        for (int i = 0; i < options.length; i += 2) {
            config.setString(options[i], options[i + 1]);
        }
        StreamExecutionEnvironment env =
                StreamExecutionEnvironment.getExecutionEnvironment(config).setParallelism(SLOTS);
        StarJoin.of(pairs(env, "facts", rows))
                .select("number")
                .dimension(
                        pairs(env, "dimension", rows),
                        d -> {
                            d.on("key", "key").select("number AS match");
                            if (partitioned) {
                                d.partitioned();
                            } else {
                                d.replicated();
                            }
                        })
                .toRows()
                .map(
                        row -> {
                            if (!row.getField(0).equals(row.getField(1))) {
                                throw new IllegalStateException("Not a pair: " + row);
                            }
                            if ((RESULTS.incrementAndGet() & 1023) == 0) {
                                long bytes = CpuJoinEngineFactory.memoryUse().usedBytes();
                                MAX_BYTES.accumulateAndGet(bytes, Math::max);
                            }
                            return 0;
                        })
                .returns(Types.INT)
                .map(n -> n)
                .returns(Types.INT)
                .sinkTo(new DiscardingSink<>());
        Thread sampler = new Thread(ManagedMemoryITCase::sampleRegions);
        sampler.start();
        try {
            env.execute();
        } finally {
            sampler.interrupt();
            sampler.join();
        }
        assertThat(PEAK_BYTES.get()).as("regions").isLessThanOrEqualTo(SLOTS * SLOT_BYTES);
    }

    /** Whatever is off the heap, also while tables are loaded. */
    private static void sampleRegions() {
        while (!Thread.currentThread().isInterrupted()) {
            PEAK_BYTES.accumulateAndGet(Region.openBytes(), Math::max);
            LockSupport.parkNanos(100_000);
        }
    }

    private static DataStream<Pair> pairs(StreamExecutionEnvironment env, String name, int count) {
        return env.fromSource(
                        new NumberSequenceSource(0, count - 1),
                        WatermarkStrategy.noWatermarks(),
                        name)
                .map(
                        n -> {
                            Pair pair = new Pair();
                            // Far apart, so that the table stores keys.
                            pair.key = n * 0x9E3779B97F4A7C15L;
                            pair.number = n;
                            return pair;
                        })
                .returns(Pair.class);
    }

    /** Flink reports one of the subtasks that fail; those that failed before it have left. */
    @Test
    void shouldNameTheOptionsWhenAReplicatedDimensionDoesNotFit() {
        assertThatThrownBy(() -> run(4_000_000, false))
                .hasStackTraceContaining("No managed memory is left for the join's tables")
                .hasStackTraceContaining("Raise taskmanager.memory.managed.size")
                .extracting(ExceptionUtils::stringifyException)
                .asString()
                .containsPattern(
                        "limitBytes=(100663296, slots=4|75497472, slots=3|50331648, slots=2|25165824, slots=1)");
    }

    /** Nine rings of 100 MiB into each subtask; a restart would need as much. */
    @Test
    void shouldRefuseRingsThatDoNotFitBeforeTheyAreMade() {
        assertThatThrownBy(
                        () ->
                                run(
                                        1_000,
                                        true,
                                        GpuJoinOptions.TRANSPORT.key(),
                                        "shm",
                                        GpuJoinOptions.RING_SLOTS.key(),
                                        "512",
                                        RestartStrategyOptions.RESTART_STRATEGY.key(),
                                        "fixed-delay",
                                        RestartStrategyOptions.RESTART_STRATEGY_FIXED_DELAY_ATTEMPTS
                                                .key(),
                                        "1000000"))
                .hasStackTraceContaining("The failure is not recoverable")
                .hasStackTraceContaining("Rings into a subtask do not fit its managed memory")
                .hasStackTraceContaining("availableBytes=25165824")
                .hasStackTraceContaining("Raise taskmanager.memory.managed.size, lower")
                .hasStackTraceContaining("gpu-join.transport: flink");
        assertThat(RESULTS).hasValue(0);
    }

    /** The finished table alone is larger than a slot's share. */
    @Test
    void shouldChargeASharedTableToAllSlots() throws Exception {
        run(1_600_000, false);
        assertThat(RESULTS).hasValue(1_600_000);
        assertThat(MAX_BYTES.get()).isBetween(SLOT_BYTES + 1, SLOTS * SLOT_BYTES);
    }

    @Test
    void shouldJoinRowsFromStateThatManagedMemoryHasNoRoomFor() throws Exception {
        run(4_000_000, true, GpuJoinOptions.SPILL_DELAY.key(), "100ms");
        assertThat(RESULTS).hasValue(4_000_000);
        assertThat(MAX_BYTES.get()).isBetween(1L, SLOTS * SLOT_BYTES);
    }

    /** The table would fit beside its rows, but not beside the chunks that they came in, too. */
    @Test
    void shouldRefuseTablesOverTheCapWithinManagedMemory() {
        assertThatThrownBy(() -> run(1_600_000, false, GpuJoinOptions.CPU_MEMORY.key(), "18mb"))
                .hasStackTraceContaining("limitBytes=75497472, slots=4")
                .hasStackTraceContaining("gpu-join.cpu.memory");
    }
}
