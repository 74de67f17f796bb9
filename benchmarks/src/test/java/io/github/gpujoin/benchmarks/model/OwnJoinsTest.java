// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import io.github.gpujoin.benchmarks.model.FactStream.Placement;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class OwnJoinsTest {

    private static final double ROWS = 1 << 29;
    private static final double EXACT = 1e-9;

    private static Node host(int devices) {
        return Hardware.h200(devices, new Link(1e15));
    }

    private static double facts(int devices, double bytes, Placement placement) {
        return new FactStream(new Cluster(host(devices), 1), bytes, 0).gFactsPerS(placement);
    }

    @ParameterizedTest
    @EnumSource(Placement.class)
    void shouldReachTheMeasuredRateOfTheKernelOnOneDevice(Placement placement) {
        assertThat(facts(1, 16, placement)).isCloseTo(Inputs.H200_RING.value(), within(EXACT));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8})
    void shouldReadNoMoreThanHostMemoryAllows(int devices) {
        double gbPerS = 16 * facts(devices, 16, Placement.REPLICATED);
        assertThat(gbPerS)
                .isLessThan(host(devices).bus().bytesPerS() * devices / 1e9)
                .isLessThanOrEqualTo(devices * 16 * Inputs.H200_RING.value());
    }

    @ParameterizedTest
    @ValueSource(doubles = {1, 3.38, 5.9, 16, 64})
    void shouldNotBeFasterWithAShardedTable(double bytes) {
        for (int devices : OwnJoins.DEVICES) {
            assertThat(facts(devices, bytes, Placement.SHARDED))
                    .isLessThanOrEqualTo(facts(devices, bytes, Placement.REPLICATED));
        }
    }

    @Test
    void shouldBeBoundByTheNetworkOfSlowCardsAndByTheBusOfFastOnes() {
        assertThat(overNetwork(2e9)).isCloseTo(2 * overNetwork(1e9), within(EXACT));
        assertThat(overNetwork(1e12))
                .isCloseTo(4 * facts(1, 16, Placement.REPLICATED), within(EXACT));
    }

    private static double overNetwork(double bytesPerS) {
        Node node = Hardware.h200(1, new Link(bytesPerS));
        return new FactStream(new Cluster(node, 4), 16, 16).gFactsPerS(Placement.REPLICATED);
    }

    @Test
    void shouldBuildAlikeOnOneDevice() {
        GroupBuild build = new GroupBuild(host(1), ROWS);
        assertThat(build.cooperativeSharded().seconds()).isEqualTo(build.redundant().seconds());
        assertThat(build.cooperativeReplicated().seconds()).isEqualTo(build.redundant().seconds());
    }

    @ParameterizedTest
    @ValueSource(ints = {2, 4, 8})
    void shouldUploadEachRowOnceInACooperativeBuild(int devices) {
        GroupBuild build = new GroupBuild(host(devices), ROWS);
        double uploadS = build.cooperativeSharded().secondsOf("upload");
        assertThat(uploadS)
                .isCloseTo(build.redundant().secondsOf("upload") / devices, within(EXACT));
        assertThat(uploadS * host(devices).bus().bytesPerS() * devices)
                .isCloseTo(16 * ROWS, within(1.0));
        assertThat(build.cooperativeSharded().seconds())
                .isLessThan(build.cooperativeReplicated().seconds());
        assertThat(build.cooperativeReplicated().seconds()).isLessThan(build.redundant().seconds());
    }

    /** docs/performance-notes-resident-join.md: 66.6 GB, 16.1 ms at 4140 GB/s. */
    @Test
    void shouldMoveTheBytesOfTheResidentJoin() {
        Device device = new Device(4140e9, 1, 1);
        TablePair tables =
                new TablePair(
                        new Table(1 << 27, 8, List.of(8)), new Table(1 << 29, 8, List.of(8)), 1);
        assertThat(RadixJoin.materialised(device, tables).seconds())
                .isCloseTo(16.1e-3, within(0.05e-3));
        Cluster one = new Cluster(host(1), 1);
        assertThat(RadixJoin.acrossPeers(one, tables, new Link(1)).seconds())
                .isCloseTo(
                        RadixJoin.materialised(host(1).device(), tables).seconds(), within(EXACT));
    }

    /** docs/performance-notes-repartitioned-join.md: 71.0 GB on each of two devices. */
    @Test
    void shouldMoveTheBytesOfTheSpreadJoin() {
        Device device = new Device(71.0e9, 1, 1);
        TablePair tables =
                new TablePair(
                        new Table(1 << 27, 8, List.of(8)), new Table(1 << 29, 8, List.of(8)), 1);
        Cluster two = new Cluster(new Node(device, 2, new Link(1), new Link(1), new Link(1)), 1);
        assertThat(RadixJoin.inChunks(two, tables, new Link(1e15)).seconds())
                .isCloseTo(1, within(0.01));
    }

    /** The same notes: half of 10.7 GB crosses the link, 14.7 ms at 366 GB/s. */
    @Test
    void shouldBeBoundByTheLinksOfASlowSwitch() {
        TablePair tables =
                new TablePair(
                        new Table(1 << 27, 8, List.of(8)), new Table(1 << 29, 8, List.of(8)), 1);
        Cluster two = new Cluster(host(2), 1);
        assertThat(RadixJoin.inChunks(two, tables, new Link(3.66e9)).seconds())
                .isCloseTo(1.47, within(0.01));
    }

    @Test
    void shouldRejectCountsOfDevicesThatWereNotMeasured() {
        assertThatThrownBy(() -> host(3))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("devices=3");
    }
}
