// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import java.util.Iterator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A light and a heavy subtask of one process, which share a device. The light one loads first. */
class DeviceShareTest extends HybridScenario {

    private static final PartitionedStar LIGHT = star(1, 300_000);
    private static final PartitionedStar HEAVY = star(2, 900_000);

    private final MemoryAccount deviceMemory = new MemoryAccount("device");

    private static PartitionedStar star(long seed, int keys) {
        return new PartitionedStar(seed, keys, JoinKind.INNER, false)
                .probe(400, 0, PartitionedStar.PARTITIONS);
    }

    /** Half of what both need. */
    private long deviceBytes() {
        return (neededBytes(LIGHT) + neededBytes(HEAVY)) / 2;
    }

    private HybridJoinEngine engine(PartitionedStar star, long deviceBytes) {
        return engine(star, 0, deviceMemory.within(deviceBytes), hostMemory.within(Long.MAX_VALUE));
    }

    private HybridJoinEngine engine(PartitionedStar star, long deviceBytes, BuildChunks log) {
        return new HybridJoinEngine(
                star.spec(),
                star.options(0, 20_000),
                LoggedHybrid.factory(
                        spec -> new CpuJoinEngine(spec, deviceMemory.within(deviceBytes))),
                LoggedHybrid.factory(
                        spec -> new CpuJoinEngine(spec, hostMemory.within(Long.MAX_VALUE))),
                log,
                lost::add);
    }

    /** Returns the share of a subtask among those in the process. */
    private static BuildShare share(HybridJoinEngine own, HybridJoinEngine... all) {
        Histogram rows = new Histogram(1);
        rows.add(0, own.stats().buildRows());
        long processRows = 0;
        long processBytes = 0;
        for (HybridJoinEngine each : all) {
            processRows += each.stats().buildRows();
            processBytes += each.stats().buildBytes();
        }
        return new BuildShare(rows, own.stats().buildBytes(), processRows, processBytes);
    }

    /** Returns the share of a subtask's build bytes that are on the device. */
    private static double onDevice(HybridJoinEngine engine) {
        long device = 0;
        long all = 0;
        for (TierUsage usage : engine.tierUsage()) {
            all += usage.buildBytes();
            device += usage.tier() == MemoryTier.DEVICE ? usage.buildBytes() : 0;
        }
        return (double) device / all;
    }

    @Test
    void shouldLeaveAHeavySubtaskLittleOfTheDeviceWithoutShares() {
        long deviceBytes = deviceBytes();
        try (HybridJoinEngine first = engine(LIGHT, deviceBytes);
                HybridJoinEngine second = engine(HEAVY, deviceBytes)) {
            LIGHT.load(first);
            HEAVY.load(second);
            assertThat(onDevice(first)).isEqualTo(1);
            assertThat(onDevice(second)).isLessThan(0.6);
        }
    }

    @Test
    void shouldDivideTheDeviceEquallyUntilTheHistogramArrives() {
        try (HybridJoinEngine first = engine(LIGHT, neededBytes(LIGHT))) {
            first.shareDeviceEqually(2);
            LIGHT.load(first);
            assertThat(first.tiers()).hasSizeGreaterThanOrEqualTo(PartitionGroupCount.MIN_COUNT);
            assertThat(onDevice(first)).isBetween(0.3, 0.7);
        }
    }

    @Test
    void shouldGiveEachSubtaskTheSamePartOnceTheHistogramArrives() {
        long deviceBytes = deviceBytes() / 2;
        try (HybridJoinEngine first = engine(LIGHT, deviceBytes);
                HybridJoinEngine second = engine(HEAVY, deviceBytes)) {
            first.shareDeviceEqually(2);
            second.shareDeviceEqually(2);
            LIGHT.load(first);
            HEAVY.load(second);
            double lightBefore = onDevice(first);
            double heavyBefore = onDevice(second);
            assertThat(heavyBefore).isLessThan(0.6 * lightBefore);

            first.expect(share(first, first, second));
            assertJoins(LIGHT, first);
            second.expect(share(second, first, second));
            assertJoins(HEAVY, second);

            assertThat(onDevice(first)).isLessThan(lightBefore);
            assertThat(onDevice(second)).isGreaterThan(heavyBefore);
            assertThat(onDevice(second)).isCloseTo(onDevice(first), within(0.2));
            // No group moves any more.
            assertJoins(LIGHT, first);
            assertThat(deviceMemory.usedBytes()).isLessThanOrEqualTo(deviceBytes);
        }
        assertThat(deviceMemory.usedBytes()).isZero();
    }

    /** A subtask that is alone, or whose tables fit beside all others, has one large table. */
    @ParameterizedTest(name = "after {0} build steps, {1} subtasks")
    @CsvSource({"0, 1", "0, 8", "1, 8", "20, 8", "200, 8"})
    void shouldDivideTheBuildSideAgainWhileBuilding(int steps, int subtasks) {
        long deviceBytes = 3 * neededBytes(HEAVY);
        try (HybridJoinEngine engine = engine(HEAVY, deviceBytes)) {
            engine.shareDeviceEqually(subtasks);
            HEAVY.submit(engine);
            for (int i = 0; i < steps; i++) {
                assertThat(engine.buildStep(JoinEngine.BUILD_STEP_ROWS)).isFalse();
            }
            engine.expect(share(engine, engine));
            engine.finishBuild();
            assertThat(engine.tiers()).containsExactly(MemoryTier.DEVICE);
            assertJoins(HEAVY, engine);
        }
        assertThat(deviceMemory.usedBytes()).isZero();
        assertThat(hostMemory.usedBytes()).isZero();
    }

    /** Counts the chunks that are read. */
    private static final class CountingLog implements BuildChunks {

        private final BuildChunks log;
        private int readCount;

        CountingLog(BuildChunks log) {
            this.log = log;
        }

        @Override
        public Iterator<Chunk> replicated() {
            return log.replicated();
        }

        @Override
        public long count(int partition) {
            return log.count(partition);
        }

        @Override
        public Chunk get(int partition, long index) {
            readCount++;
            return log.get(partition, index);
        }
    }

    /**
     * The table under construction takes memory of the device, which must not look as if the build
     * side no longer fitted in one group.
     */
    @ParameterizedTest(name = "shares of the process: {0} and {1}")
    @CsvSource({"1, 1", "0.999, 1", "0.95, 0.94"})
    void shouldKeepTablesWhileSimilarSharesArriveOneAfterAnother(double first, double second) {
        CountingLog log = new CountingLog(HEAVY.log());
        try (HybridJoinEngine engine = engine(HEAVY, neededBytes(HEAVY) * 12 / 10, log)) {
            HEAVY.submit(engine);
            for (int i = 0; i < 10; i++) {
                engine.expect(shareOf(engine, i % 2 == 0 ? first : second));
                for (int step = 0; step < 200; step++) {
                    assertThat(engine.buildStep(JoinEngine.BUILD_STEP_ROWS)).isFalse();
                }
            }
            engine.finishBuild();

            assertThat(engine.tiers()).containsExactly(MemoryTier.DEVICE);
            assertThat(log.readCount)
                    .as("each chunk is read once")
                    .isEqualTo(
                            (int)
                                    log.count(
                                            PartitionedStar.FIRST_PARTITION,
                                            PartitionedStar.FIRST_PARTITION
                                                    + PartitionedStar.PARTITIONS));
        }
    }

    private static BuildShare shareOf(HybridJoinEngine engine, double share) {
        Histogram rows = new Histogram(1);
        rows.add(0, engine.stats().buildRows());
        long bytes = engine.stats().buildBytes();
        return new BuildShare(
                rows, bytes, (long) (rows.partitionedRows() / share), (long) (bytes / share));
    }

    @Test
    void shouldLimitASubtaskToItsShareOrToWhatTheOthersDoNotNeed() {
        assertThat(DeviceShare.WHOLE.limitBytes(100)).isEqualTo(Long.MAX_VALUE);
        assertThat(DeviceShare.equal(1)).isEqualTo(DeviceShare.WHOLE);
        assertThat(DeviceShare.equal(4).limitBytes(100)).isEqualTo(25);
        DeviceShare quarter = DeviceShare.of(new BuildShare(new Histogram(1), 20, 0, 80));
        assertThat(quarter.limitBytes(100)).as("the others need 150").isEqualTo(25);
        assertThat(quarter.limitBytes(1_000)).as("the others need 150").isEqualTo(850);
    }
}
