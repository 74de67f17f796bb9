// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class RepartitionedJoinTest {

    private static final double EXACT = 1e-9;

    /** One row or byte a second, so that seconds count gathers, atomics or bytes. */
    private static final Device UNIT = new Device(1, 1, 1);

    private static final TablePair TABLES =
            new TablePair(new Table(1e6, 8, List.of(8)), new Table(4e6, 8, List.of(4)), 0.5);

    private static Node node(double networkBytesPerS, double messageS) {
        return new Node(
                Hardware.dgxA100(new Link(1)).device(),
                8,
                new Link(1e12),
                new Link(250e9),
                new Link(networkBytesPerS, messageS));
    }

    private static RepartitionedJoin join(int devices, Link network) {
        return new RepartitionedJoin(
                Cluster.ofDevices(node(network.bytesPerS(), network.messageS()), devices), TABLES);
    }

    private static double exchangeS(Stage join) {
        return join.secondsOf(RepartitionedJoin.EXCHANGE);
    }

    @Test
    void shouldTakeTheTimeOfTheLocalJoinOnOneDevice() {
        RepartitionedJoin join = join(1, new Link(1e9));
        double localS = LocalHashJoin.of(node(1e9, 0).device(), TABLES).seconds();
        assertThat(join.oneLevel().seconds()).isEqualTo(localS);
        assertThat(join.twoLevel().seconds()).isEqualTo(localS);
    }

    @Test
    void shouldCountAccessesOfTheLocalJoin() {
        // Half occupied: a hit visits 1.5 slots, a miss 2.5, and a sector has four.
        double exchanges = 1e6 * 1.125;
        double gathersOfOneProbe = 2e6 * (1.125 + 1) + 2e6 * 1.375;
        double payloads = 2e6;
        double streamed = 8e6 + 2 * 32e6 + 2e6 * (16 + 2 * 12 + 8);
        assertThat(LocalHashJoin.of(UNIT, TABLES).seconds())
                .isCloseTo(
                        exchanges + 2 * gathersOfOneProbe + payloads + streamed,
                        within(EXACT * 1e9));
    }

    @ParameterizedTest
    @ValueSource(ints = {16, 64, 1024})
    void shouldHalveTheExchangeOnANetworkOfTwiceTheRate(int devices) {
        double once = exchangeS(join(devices, new Link(10e9)).oneLevel());
        double twice = exchangeS(join(devices, new Link(20e9)).oneLevel());
        assertThat(twice).isCloseTo(once / 2, within(EXACT));
    }

    @Test
    void shouldNotUseTheNetworkWithinOneNode() {
        assertThat(join(8, new Link(1)).oneLevel().seconds())
                .isEqualTo(join(8, new Link(1e12)).oneLevel().seconds());
    }

    @Test
    void shouldBeBoundByTheBusOnAFastNetwork() {
        Node slowBus =
                new Node(node(1, 0).device(), 8, new Link(1e9), new Link(250e9), new Link(1e12));
        Cluster cluster = new Cluster(slowBus, 2);
        assertThat(exchangeS(new RepartitionedJoin(cluster, TABLES).oneLevel()))
                .isCloseTo(TABLES.bytes() / 2 / 1e9, within(EXACT));
    }

    @ParameterizedTest
    @ValueSource(ints = {8, 16, 32, 64, 128, 256, 512})
    void shouldTakeNoLessTimeWithMoreDevicesThatEachHaveTheSameRows(int devices) {
        Link network = new Link(10e9, 2e-6);
        assertThat(join(2 * devices, network).oneLevel().seconds())
                .isGreaterThanOrEqualTo(join(devices, network).oneLevel().seconds());
        assertThat(join(2 * devices, network).twoLevel().seconds())
                .isGreaterThanOrEqualTo(join(devices, network).twoLevel().seconds());
    }

    /** Gao and Sakharnykh, section 6.3: 512 x 511 messages with one level. */
    @Test
    void shouldSendTheMessagesOfThePaper() {
        assertThat(512 * join(512, new Link(1)).messagesPerColumn()).isEqualTo(261_632);
        double messageS = 1;
        double oneLevelS = exchangeS(join(512, new Link(Double.MAX_VALUE, messageS)).oneLevel());
        assertThat(oneLevelS).isCloseTo(511.0 * TABLES.columns(), within(1e-3));
        double twoLevelS = exchangeS(join(512, new Link(Double.MAX_VALUE, messageS)).twoLevel());
        assertThat(twoLevelS).isCloseTo(63.0 * TABLES.columns(), within(1e-3));
    }

    @Test
    void shouldCompressOnlyBetweenNodes() {
        Compression compression = new Compression(4, 1e9, 1e9);
        Link network = new Link(1e9);
        assertThat(join(8, network).compressed(compression).seconds())
                .isEqualTo(join(8, network).oneLevel().seconds());
        Stage compressed = join(16, network).compressed(compression);
        assertThat(exchangeS(compressed))
                .isCloseTo(exchangeS(join(16, network).oneLevel()) / 4, within(EXACT));
        assertThat(compressed.secondsOf("compress")).isEqualTo(TABLES.bytes() / 1e9);
    }

    @Test
    void shouldRejectDevicesThatDoNotFillTheirNodes() {
        Node node = node(1, 0);
        assertThatThrownBy(() -> Cluster.ofDevices(node, 12))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("devices=12, devicesPerNode=8");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0, -1, Double.NaN})
    void shouldRejectRatesThatAreNotPositive(double rate) {
        assertThatThrownBy(() -> new Link(rate)).hasMessageContaining("bytesPerS=" + rate);
        assertThatThrownBy(() -> new Device(rate, 1, 1)).hasMessageContaining("=" + rate);
        assertThatThrownBy(() -> new Compression(rate, 1, 1)).hasMessageContaining("=" + rate);
    }
}
