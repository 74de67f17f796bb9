// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import io.github.gpujoin.core.engine.InFlightProbe;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.engine.testing.ResultRow;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.core.region.MemoryAccount;
import io.github.gpujoin.hybrid.testing.CpuDeviceGroup;
import io.github.gpujoin.hybrid.testing.FailingDevice;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Partition groups on two devices that cannot access each other's memory. */
class HybridDeviceGroupTest extends HybridScenario {

    /** Room for all tables of small stars. */
    private static final long MOST_BYTES = 64 << 20;

    private final List<MemoryAccount> memories =
            List.of(new MemoryAccount("member 0"), new MemoryAccount("member 1"));

    private JoinEngineFactory group(long firstBytes, long secondBytes) {
        return new CpuDeviceGroup(
                List.of(memories.get(0).within(firstBytes), memories.get(1).within(secondBytes)));
    }

    private HybridJoinEngine engine(PartitionedStar star, JoinEngineFactory group) {
        return engine(star, 0, group, hostMemory.within(Long.MAX_VALUE));
    }

    private static List<TableLocation> usedLocations(HybridJoinEngine engine) {
        return engine.tierUsage().stream().map(TierUsage::location).toList();
    }

    @ParameterizedTest(name = "members {0} % and {1} %, host {2} % of the need, {3}")
    @CsvSource({
        "0, 0, 50, INNER", "40, 0, 50, INNER", "0, 40, 300, INNER", "40, 40, 0, INNER",
        "30, 60, 30, INNER", "80, 80, 0, INNER", "300, 40, 0, INNER", "300, 300, 0, INNER",
        "20, 20, 20, SEMI", "80, 80, 0, LEFT"
    })
    void shouldRespectTheBudgetOfEachMember(int first, int second, int host, JoinKind kind) {
        PartitionedStar star =
                new PartitionedStar(first + 2 * second + host, KEYS, kind, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        long needed = neededBytes(star);
        long hostBytes = LEAST_BYTES + needed * host / 100;
        List<Long> budgets = List.of(needed * first / 100, needed * second / 100);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        0,
                        group(budgets.get(0), budgets.get(1)),
                        hostMemory.within(hostBytes))) {
            star.load(engine);
            assertJoins(star, engine);
        }
        for (int member = 0; member < 2; member++) {
            assertThat(memories.get(member).peakBytes()).isLessThanOrEqualTo(budgets.get(member));
            assertThat(memories.get(member).usedBytes()).isZero();
        }
        assertThat(hostMemory.peakBytes()).isLessThanOrEqualTo(hostBytes);
        assertThat(hostMemory.usedBytes()).isZero();
    }

    /** Members have the free memory of other subtasks, which have not built their tables. */
    @ParameterizedTest(name = "{0} subtasks, members {1} % of the need")
    @CsvSource({"2, 100", "4, 100", "8, 100", "8, 40", "3, 150"})
    void shouldPlaceGroupsWithinAnEqualShareOfEachMember(int subtasks, int percent) {
        PartitionedStar star =
                new PartitionedStar(1, 4 * KEYS, JoinKind.INNER, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        long memberBytes = neededBytes(star) * percent / 100;
        assertTimeoutPreemptively(
                Duration.ofSeconds(30),
                () -> {
                    try (HybridJoinEngine engine = engine(star, group(memberBytes, memberBytes))) {
                        engine.shareDeviceEqually(subtasks);
                        star.load(engine);
                        assertJoins(star, engine);
                    }
                });
    }

    @Test
    void shouldUseTheMemoryOfAllMembers() {
        PartitionedStar star =
                new PartitionedStar(1, 4 * KEYS, JoinKind.INNER, false)
                        .probe(60, 0, PartitionedStar.PARTITIONS);
        long memberBytes = neededBytes(star) * 8 / 10;
        try (HybridJoinEngine engine = engine(star, group(memberBytes, memberBytes))) {
            star.load(engine);
            assertThat(usedLocations(engine))
                    .containsExactly(TableLocation.placedOn(0), TableLocation.placedOn(1));
            assertThat(engine.tierUsage())
                    .extracting(TierUsage::partitionCount)
                    .containsExactly(
                            PartitionedStar.PARTITIONS / 2, PartitionedStar.PARTITIONS / 2);
            assertJoins(star, engine);
        }
    }

    @Test
    void shouldSpreadTablesThatFitEachMember() {
        PartitionedStar star =
                new PartitionedStar(2, 4_000, JoinKind.INNER, false)
                        .probe(20, 0, PartitionedStar.PARTITIONS);
        try (HybridJoinEngine engine = engine(star, group(Long.MAX_VALUE, Long.MAX_VALUE))) {
            star.load(engine);
            assertThat(usedLocations(engine)).containsExactly(TableLocation.DEVICE);
            assertThat(engine.acceptsMixedPartitions()).isTrue();
            assertThat(engine.memberSkew()).isEqualTo(1);
            assertJoins(star, engine);
        }
    }

    /** The estimate says that one table fits, but the tables of a device are larger. */
    @Test
    void shouldPlaceGroupsIfOneTableTurnsOutTooLarge() {
        PartitionedStar star =
                new PartitionedStar(3, KEYS, JoinKind.INNER, false)
                        .probe(40, 0, PartitionedStar.PARTITIONS);
        long memberBytes = neededBytes(star) * 95 / 100;
        try (HybridJoinEngine engine = engine(star, group(memberBytes, memberBytes))) {
            star.load(engine);
            assertThat(usedLocations(engine))
                    .contains(TableLocation.placedOn(0), TableLocation.placedOn(1));
            assertJoins(star, engine);
        }
    }

    @Test
    void shouldMoveGroupsFromTheMemberThatAllFactsProbe() {
        PartitionedStar star = new PartitionedStar(4, 2_000, JoinKind.INNER, false);
        try (HybridJoinEngine engine =
                engine(
                        star,
                        16,
                        group(MOST_BYTES, MOST_BYTES),
                        hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            List<TableLocation> first = engine.locations();
            List<Integer> ofFirstMember =
                    IntStream.range(0, first.size())
                            .filter(u -> first.get(u).member() == 0)
                            .boxed()
                            .toList();
            int perGroup = PartitionedStar.PARTITIONS / first.size();
            for (int round = 0; round < 1_200; round++) {
                int group = ofFirstMember.get(round % ofFirstMember.size());
                star.probe(1, group * perGroup, (group + 1) * perGroup);
            }
            assertJoins(star, engine);
            assertThat(ofFirstMember)
                    .extracting(u -> engine.locations().get(u).member())
                    .contains(0, 1);
            assertThat(engine.memberSkew()).isLessThan(2);
        }
    }

    @ParameterizedTest(name = "after {0} calls")
    @ValueSource(ints = {0, 5, 20, 60, 100, 130, 160, 180, 200, 100_000})
    void shouldContinueOnTheHostIfAMemberFails(int goodCalls) {
        PartitionedStar star =
                new PartitionedStar(goodCalls, 4_000, JoinKind.INNER, false)
                        .probe(80, 0, PartitionedStar.PARTITIONS);
        FailingDevice device = new FailingDevice(goodCalls, group(MOST_BYTES, MOST_BYTES)::create);
        try (HybridJoinEngine engine =
                engine(star, 16, device, hostMemory.within(Long.MAX_VALUE))) {
            star.load(engine);
            assertJoins(star, engine);
            assertThat(device.hasFailed()).isEqualTo(goodCalls < 100_000);
            assertThat(lost).hasSize(device.hasFailed() ? 1 : 0);
            assertThat(engine.tiers().contains(MemoryTier.DEVICE)).isEqualTo(!device.hasFailed());
        }
        assertThat(memories).allMatch(memory -> memory.usedBytes() == 0);
    }

    @Test
    void shouldMergeAggregatesOfAllMembers() {
        PartitionedStar star =
                new PartitionedStar(5, KEYS, JoinKind.INNER, true)
                        .probe(100, 0, PartitionedStar.PARTITIONS);
        long memberBytes = (32L << 20) + neededBytes(star) / 2; // engines hold memory of groups
        try (HybridJoinEngine engine =
                        engine(
                                star,
                                16,
                                group(memberBytes, memberBytes),
                                hostMemory.within(Long.MAX_VALUE));
                JoinEngine reference = new ReferenceJoinEngineFactory().create(star.spec())) {
            star.load(engine);
            star.load(reference);
            assertThat(usedLocations(engine))
                    .contains(TableLocation.placedOn(0), TableLocation.placedOn(1));
            assertThat(star.aggregatedBy(engine).groups())
                    .isEqualTo(star.aggregatedBy(reference).groups());
        }
    }

    @Test
    void shouldContinueFromSnapshotOnOtherMembers() {
        PartitionedStar star =
                new PartitionedStar(6, KEYS, JoinKind.INNER, false)
                        .probe(24, 0, PartitionedStar.PARTITIONS);
        long memberBytes = neededBytes(star) * 8 / 10;
        List<List<ResultRow>> results = new ArrayList<>();
        List<InFlightProbe> snapshot;
        try (HybridJoinEngine engine = engine(star, group(memberBytes, memberBytes))) {
            star.load(engine);
            EngineRun run = new EngineRun(engine);
            star.probes().forEach(probe -> run.submit(probe, 0));
            while (run.unfinished().size() > 10) {
                assertThat(run.poll()).isTrue();
            }
            snapshot = engine.snapshot();
            results.addAll(run.results().subList(0, star.probes().size() - 10));
        }
        try (HybridJoinEngine engine = engine(star, group(memberBytes / 2, memberBytes))) {
            star.load(engine);
            EngineRun run = new EngineRun(engine);
            run.restore(snapshot);
            run.drain();
            results.addAll(run.results());
        }
        assertThat(results).isEqualTo(star.expected());
    }
}
