// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.testing.EngineRun;
import io.github.gpujoin.core.reference.ReferenceJoinEngineFactory;
import io.github.gpujoin.flink.api.explain.DeviceSpread;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import io.github.gpujoin.hybrid.MemoryTier;
import io.github.gpujoin.hybrid.testing.HybridScenario;
import io.github.gpujoin.hybrid.testing.PartitionedStar;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import io.github.gpujoin.kernels.gpu.HostDevice;
import io.github.gpujoin.kernels.gpu.MemoryBudget;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Partition groups on two devices that the CPU emulates, and on the host. */
class PlacedHostDevicesTest extends HybridScenario {

    private static final int PARTITIONS = PartitionedStar.PARTITIONS;

    private HostDevice devices;

    @AfterEach
    void close() {
        if (devices != null) {
            devices.close();
            devices.endProcess();
        }
    }

    private void open(long deviceKiB, boolean hasPeerAccess) throws Exception {
        devices =
                HostDevice.open(
                        GpuOptions.defaults()
                                .withSlots(4, 256)
                                .withDevices(List.of(0, 1))
                                .withPeerAccess(hasPeerAccess)
                                .withMemory(
                                        new MemoryBudget(
                                                deviceKiB << 10, MemoryBudget.BY_MACHINE)));
    }

    private DividedEngine engine(PartitionedStar star, int groupCount) {
        HybridJoinEngine engine =
                engine(star, groupCount, devices, hostMemory.within(Long.MAX_VALUE));
        return new DividedEngine(engine, PartitionedStar.PARTITIONED, devices, devices);
    }

    /** Returns each spread with its devices. */
    private static List<String> spreads(DividedEngine engine) {
        return engine.partitionClasses().stream()
                .map(joined -> joined.spread() + " on " + String.join(", ", joined.devices()))
                .toList();
    }

    @ParameterizedTest(name = "{0} KiB of each device, peer access: {1}, {2}")
    @CsvSource({
        "1500, false, INNER",
        "3000, true, ANTI",
        "5000, false, LEFT",
        "8000, true, SEMI",
        "100000, true, INNER"
    })
    void shouldJoinWithTablesThatTheDevicesHoldInPart(
            long deviceKiB, boolean hasPeerAccess, JoinKind kind) throws Exception {
        open(deviceKiB, hasPeerAccess);
        long usedBytes = devices.usedBytes();
        PartitionedStar star =
                new PartitionedStar(deviceKiB, 16 * KEYS, kind, false).probe(60, 0, PARTITIONS);
        try (HybridJoinEngine engine = engine(star, 0).engine()) {
            star.load(engine);
            assertJoins(star, engine);
        }
        assertThat(devices.steps(0)).isPositive();
        assertThat(devices.steps(1)).isPositive();
        assertThat(devices.usedBytes()).isEqualTo(usedBytes);
        assertThat(hostMemory.usedBytes()).isZero();
        assertThat(lost).isEmpty();
    }

    @ParameterizedTest(name = "{0} KiB of each device, peer access: {1}")
    @CsvSource({
        "6000, false, PLACED on 0; PLACED on 1", "6000, true, PLACED on 0; PLACED on 1",
        "25000, true, 'SHARDED on 0, 1'", "100000, true, 'REPLICATED on 0, 1'",
        "100000, false, 'REPLICATED on 0, 1'"
    })
    void shouldSpreadTablesBySizeAndPeerAccess(
            long deviceKiB, boolean hasPeerAccess, String expected) throws Exception {
        open(deviceKiB, hasPeerAccess);
        PartitionedStar star = new PartitionedStar(1, 16 * KEYS, JoinKind.INNER, false);
        DividedEngine divided = engine(star, 0);
        try (HybridJoinEngine engine = divided.engine()) {
            star.load(engine);
            assertThat(spreads(divided)).containsExactly(expected.split("; "));
            DeviceSpread spread = divided.partitionClasses().get(0).spread();
            assertThat(divided.tableCount(spread))
                    .isEqualTo(engine.tiers().size() + (spread == DeviceSpread.REPLICATED ? 1 : 0));
            assertThat(divided.spread(0)).isEqualTo(DeviceSpread.REPLICATED);
        }
    }

    /** Most facts probe one group; its device alone would join them. */
    @ParameterizedTest(name = "peer access: {0}")
    @ValueSource(booleans = {false, true})
    void shouldServeSkewedGroupWithBothDevices(boolean hasPeerAccess) throws Exception {
        open(100_000, hasPeerAccess);
        PartitionedStar star = new PartitionedStar(2, KEYS, JoinKind.INNER, false).probe(400, 0, 2);
        DividedEngine divided = engine(star, 16);
        try (HybridJoinEngine engine = divided.engine()) {
            star.load(engine);
            assertThat(spreads(divided)).containsExactly("PLACED on 0", "PLACED on 1");
            assertJoins(star, engine);
            assertThat(spreads(divided))
                    .containsExactly("REPLICATED on 0, 1", "PLACED on 0", "PLACED on 1");
            assertThat(divided.partitionClasses().get(0).partitions()).isEqualTo(2);
            assertThat(devices.steps(0)).isPositive();
            assertThat(devices.steps(1)).isPositive();
        }
    }

    /** The loss is noticed when the skewed group moves, while chunks are in flight. */
    @ParameterizedTest(name = "device {0}, peer access: {1}")
    @CsvSource({"0, false", "1, false", "0, true", "1, true"})
    void shouldContinueOnTheHostIfADeviceIsLost(int member, boolean hasPeerAccess)
            throws Exception {
        open(100_000, hasPeerAccess);
        PartitionedStar star =
                new PartitionedStar(member, KEYS, JoinKind.INNER, false)
                        .probe(60, 0, PARTITIONS)
                        .probe(300, 0, 2);
        DividedEngine divided = engine(star, 16);
        try (HybridJoinEngine engine = divided.engine()) {
            star.load(engine);
            EngineRun run = new EngineRun(engine);
            star.probes().subList(0, 100).forEach(probe -> run.submit(probe, 0));
            while (run.unfinished().size() > 10) {
                run.poll();
            }
            devices.loseDevice(member);
            star.probes().subList(100, 360).forEach(probe -> run.submit(probe, 0));
            run.drain();
            assertThat(run.results()).isEqualTo(star.expected());
            assertThat(lost).hasSize(1);
            assertThat(engine.tiers()).doesNotContain(MemoryTier.DEVICE);
            assertThat(divided.partitionClasses())
                    .extracting(PartitionClass::spread)
                    .containsOnly(DeviceSpread.NONE);
        }
    }

    @Test
    void shouldMergeAggregatesOfBothDevices() throws Exception {
        open(100_000, false);
        PartitionedStar star =
                new PartitionedStar(5, KEYS, JoinKind.INNER, true).probe(100, 0, PARTITIONS);
        try (HybridJoinEngine engine = engine(star, 16).engine();
                JoinEngine reference = new ReferenceJoinEngineFactory().create(star.spec())) {
            star.load(engine);
            star.load(reference);
            assertThat(star.aggregatedBy(engine).groups())
                    .isEqualTo(star.aggregatedBy(reference).groups());
            assertThat(devices.steps(0)).isPositive();
            assertThat(devices.steps(1)).isPositive();
        }
    }
}
