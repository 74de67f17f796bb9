// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.cpu.CpuJoinEngine;
import io.github.gpujoin.hybrid.testing.FailingAllocator;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.LoggedHybrid;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Budgets of both tiers, and placement of partition groups while the engine joins. */
class HybridJoinEngineTest extends HybridScenario {

    private final MemoryAccount deviceMemory = new MemoryAccount("device");

    @ParameterizedTest(name = "device {0} %, host {1} % of the need, {2}")
    @CsvSource({
        "0, 0, INNER", "0, 1, INNER", "0, 10, INNER", "0, 50, INNER", "0, 90, INNER",
        "0, 100, INNER", "0, 300, INNER", "1, 300, INNER", "10, 10, INNER", "50, 50, INNER",
        "90, 10, INNER", "100, 0, INNER", "300, 0, INNER", "300, 300, INNER", "10, 50, SEMI",
        "0, 0, SEMI", "50, 10, SEMI"
    })
    void shouldRespectBothBudgets(int devicePercent, int hostPercent, JoinKind kind) {
        PartitionedStar star =
                new PartitionedStar(devicePercent + hostPercent, KEYS, kind, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        long needed = neededBytes(star);
        long deviceBytes = needed * devicePercent / 100;
        long hostBytes = LEAST_BYTES + needed * hostPercent / 100;
        try (HybridJoinEngine engine =
                engine(star, 0, deviceMemory.within(deviceBytes), hostMemory.within(hostBytes))) {
            star.load(engine);
            assertJoins(star, engine);
            if (devicePercent >= 300) {
                assertThat(engine.tiers()).containsExactly(MemoryTier.DEVICE);
            } else if (hostPercent < 50 && devicePercent < 90) {
                assertThat(engine.tiers()).contains(MemoryTier.SPILLED);
            }
        }
        assertThat(deviceMemory.peakBytes()).isLessThanOrEqualTo(deviceBytes);
        assertThat(hostMemory.peakBytes()).isLessThanOrEqualTo(hostBytes);
        assertThat(deviceMemory.usedBytes()).isZero();
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldUseMostOfDeviceThatIsTooSmall() {
        PartitionedStar star = new PartitionedStar(1, KEYS, JoinKind.INNER, false);
        long deviceBytes = neededBytes(star) / 2;
        try (HybridJoinEngine engine =
                engine(
                        star,
                        0,
                        deviceMemory.within(deviceBytes),
                        hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            assertThat(engine.tiers())
                    .hasSizeGreaterThanOrEqualTo(16)
                    .contains(MemoryTier.DEVICE, MemoryTier.HOST);
            assertThat(deviceMemory.usedBytes()).isGreaterThan(deviceBytes * 3 / 4);
        }
    }

    /** Its memory was expected to suffice, and the tables of some groups still fit. */
    @Test
    void shouldDivideABuildSideWhoseOnlyTableTheDeviceRefuses() {
        PartitionedStar star =
                new PartitionedStar(7, 4_000, JoinKind.INNER, false)
                        .probe(10, 0, PartitionedStar.PARTITIONS);
        int divided = 0;
        boolean failed = true;
        for (int k = 1; failed; k++) {
            FailingAllocator device = new FailingAllocator(deviceMemory.within(Long.MAX_VALUE), k);
            try (HybridJoinEngine engine =
                    engine(star, 0, device, hostMemory.within(Long.MAX_VALUE))) {
                star.load(engine);
                failed = device.hasFailed();
                assertThat(engine.tiers()).as("k=%s", k).containsOnly(MemoryTier.DEVICE);
                divided += engine.tiers().size() > 1 ? 1 : 0;
                assertJoins(star, engine);
            }
            assertThat(deviceMemory.usedBytes()).as("k=%s", k).isZero();
        }
        assertThat(divided).isPositive();
    }

    @ParameterizedTest(name = "of the {0}")
    @EnumSource(
            value = MemoryTier.class,
            names = {"DEVICE", "HOST"})
    void shouldContinueIfAnyAllocationFails(MemoryTier tier) {
        PartitionedStar star =
                new PartitionedStar(7, 4_000, JoinKind.INNER, false)
                        .probe(40, 0, PartitionedStar.PARTITIONS);
        int failures = 0;
        boolean failed = true;
        for (int k = 1; failed; k++) {
            FailingAllocator device =
                    new FailingAllocator(
                            deviceMemory.within(300 << 10), tier == MemoryTier.DEVICE ? k : 0);
            FailingAllocator host =
                    new FailingAllocator(
                            hostMemory.within(Long.MAX_VALUE), tier == MemoryTier.HOST ? k : 0);
            try (HybridJoinEngine engine = engine(star, 16, device, host)) {
                star.load(engine);
                assertJoins(star, engine);
            }
            failed = device.hasFailed() || host.hasFailed();
            failures += failed ? 1 : 0;
            assertThat(deviceMemory.usedBytes()).as("k=%s", k).isZero();
            assertThat(hostMemory.usedBytes()).as("k=%s", k).isZero();
        }
        assertThat(failures).isGreaterThan(40);
    }

    @Test
    void shouldMoveMostProbedGroupToDeviceWhileJoining() {
        PartitionedStar star = new PartitionedStar(3, KEYS, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        deviceMemory.within(neededBytes(star) / 2),
                        hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            int probed = engine.tiers().indexOf(MemoryTier.HOST);
            assertThat(engine.tiers()).contains(MemoryTier.DEVICE);
            star.probe(400, 2 * probed, 2 * probed + 2);
            assertJoins(star, engine);
            assertThat(engine.tiers().get(probed)).isEqualTo(MemoryTier.DEVICE);
            List<MemoryTier> settled = engine.tiers();
            assertJoins(star, engine);
            assertThat(engine.tiers()).isEqualTo(settled);
        }
    }

    @Test
    void shouldBuildTablesOfMostProbedSpilledGroup() {
        PartitionedStar star = new PartitionedStar(4, KEYS, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        (JoinEngineFactory) null,
                        hostMemory.within(neededBytes(star) / 2))) {
            star.load(engine);
            int probed = engine.tiers().indexOf(MemoryTier.SPILLED);
            assertThat(engine.isSpilled(PartitionedStar.FIRST_PARTITION + 2 * probed)).isTrue();
            star.probe(400, 2 * probed, 2 * probed + 2);
            assertJoins(star, engine);
            assertThat(engine.tiers().get(probed)).isEqualTo(MemoryTier.HOST);
        }
    }

    @ParameterizedTest(name = "announced: {0}")
    @ValueSource(booleans = {true, false})
    void shouldPlaceGroupsByArrivalOfDeferredProbes(boolean announced) {
        PartitionedStar star = new PartitionedStar(6, KEYS, JoinKind.INNER, false);
        for (int round = 0; round < 24; round++) {
            for (int p = 0; p < PartitionedStar.PARTITIONS; p++) {
                star.probe(1, p, p + 1);
            }
        }
        long hostBytes = neededBytes(star) / 2;
        try (HybridJoinEngine engine =
                engine(star, 16, (JoinEngineFactory) null, hostMemory.within(hostBytes))) {
            star.load(engine);
            List<MemoryTier> first = engine.tiers();
            assertThat(first).contains(MemoryTier.HOST, MemoryTier.SPILLED);
            List<Chunk> later = new ArrayList<>();
            EngineRun run = new EngineRun(engine);
            for (Chunk chunk : star.probes()) {
                if (!engine.isSpilled(chunk.partition())) {
                    run.submit(chunk, 0);
                    continue;
                }
                later.add(chunk);
                if (announced) {
                    engine.announceDeferred(chunk.partition(), chunk.rowCount());
                }
            }
            later.sort(Comparator.comparingInt(Chunk::partition));
            later.forEach(chunk -> run.submit(chunk, 0));
            run.drain();
            List<Integer> gained = new ArrayList<>();
            for (int group = 0; group < first.size(); group++) {
                if (!first.get(group).hasTables() && engine.tiers().get(group).hasTables()) {
                    gained.add(group);
                }
            }
            assertThat(gained.isEmpty()).as("gained=%s", gained).isEqualTo(announced);
            star.probes().removeAll(later);
            star.probes().addAll(later);
            assertThat(run.results()).isEqualTo(star.expected());
        }
    }

    @Test
    void shouldRejectMixedPartitionsIfThereAreSeveralGroups() {
        PartitionedStar star = new PartitionedStar(3, 4_000, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        deviceMemory.within(Long.MAX_VALUE),
                        hostMemory.within(Long.MAX_VALUE))) {
            assertThat(engine.acceptsMixedPartitions()).isFalse();
            star.load(engine);
            assertThat(engine.acceptsMixedPartitions()).isFalse();
        }
    }

    @Test
    void shouldCloseTablesOfGroupThatMovesToFasterTier() {
        PartitionedStar star = new PartitionedStar(10, KEYS, JoinKind.INNER, false);
        long needed = neededBytes(star);
        boolean failed = true;
        for (int k = 1; failed && k < 400; k += 13) {
            FailingAllocator device = new FailingAllocator(deviceMemory.within(needed / 2), k);
            try (HybridJoinEngine engine =
                    engine(star, 16, device, hostMemory.within(LEAST_BYTES + needed / 4))) {
                star.load(engine);
            }
            failed = device.hasFailed();
            assertThat(deviceMemory.usedBytes()).as("k=%s", k).isZero();
            assertThat(hostMemory.usedBytes()).as("k=%s", k).isZero();
        }
    }

    @ParameterizedTest(name = "device {0} %, host {1} % of the need")
    @CsvSource({"0, 300", "30, 30", "0, 10", "300, 300", "60, 300"})
    void shouldMergeGroupsOfAllTiers(int devicePercent, int hostPercent) {
        PartitionedStar star =
                new PartitionedStar(devicePercent, KEYS, JoinKind.INNER, true)
                        .probe(100, 0, PartitionedStar.PARTITIONS);
        long needed = neededBytes(star);
        long least = 32 << 20; // groups have their memory from the start
        try (HybridJoinEngine engine =
                        engine(
                                star,
                                0,
                                deviceMemory.within(
                                        devicePercent == 0
                                                ? 0
                                                : least + needed * devicePercent / 100),
                                hostMemory.within(least + needed * hostPercent / 100));
                JoinEngine reference = new ReferenceJoinEngineFactory().create(star.spec())) {
            star.load(engine);
            star.load(reference);
            assertThat(star.aggregatedBy(engine).groups())
                    .isEqualTo(star.aggregatedBy(reference).groups());
        }
    }

    @Test
    void shouldFailIfHostHasNoRoomForReplicatedDimension() {
        PartitionedStar star = new PartitionedStar(5, 1_000, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(star, 0, (JoinEngineFactory) null, hostMemory.within(100))) {
            assertThatThrownBy(() -> star.load(engine))
                    .isInstanceOf(EngineUnavailableException.class)
                    .hasMessageContaining("host memory budget")
                    .hasMessageContaining("budgetBytes=100");
        }
        assertThat(hostMemory.usedBytes()).isZero();
    }

    @Test
    void shouldRejectChunkOfForeignPartition() {
        PartitionedStar star = new PartitionedStar(6, 1_000, JoinKind.INNER, false).probe(1, 0, 1);
        try (HybridJoinEngine engine =
                new HybridJoinEngine(
                        star.spec(),
                        new HybridOptions(PartitionedStar.PARTITIONED, 0, 16, 0),
                        null,
                        LoggedHybrid.factory(CpuJoinEngine::new),
                        star.log(),
                        lost::add)) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> star.load(engine))
                    .withMessageContaining("partition=64, firstPartition=0, partitions=16");
        }
    }
}
