// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PipelinedJoinTest {

    private static final double FAST = 1e15;
    private static final TablePair TABLES =
            new TablePair(new Table(1e6, 8, List.of(8)), new Table(4e6, 8, List.of(8)), 1);

    private static Node node(Device device, double bus, double network) {
        return new Node(device, 1, new Link(bus), new Link(FAST), new Link(network));
    }

    private static double seconds(Node node, int nodes, double hostPass) {
        return new PipelinedJoin(new Cluster(node, nodes), hostPass).pipelined(TABLES).seconds();
    }

    private static final Device DEVICE = new Device(FAST, FAST, FAST);

    @Test
    void shouldHideTheKernelBehindASlowNetwork() {
        double networkS = TABLES.bytes() / 2 / 1e9;
        assertThat(seconds(node(DEVICE, FAST, 1e9), 2, FAST)).isCloseTo(networkS, within(1e-6));
        Device slower = new Device(1e12, 1e11, 1e11);
        assertThat(seconds(node(slower, FAST, 1e9), 2, FAST)).isCloseTo(networkS, within(1e-6));
    }

    @Test
    void shouldReadAllTuplesTwiceWhereTheCpuIsTheBound() {
        assertThat(seconds(node(DEVICE, FAST, FAST), 4, 1e9))
                .isCloseTo(2 * TABLES.bytes() / 1e9, within(1e-6));
    }

    @Test
    void shouldTakeTheTimeOfTheKernelOnOneNodeWithFastLinks() {
        Device slow = new Device(FAST, 1e6, 1e6);
        // An exchange a build row; two gathers a probe row.
        assertThat(seconds(node(slow, FAST, FAST), 1, FAST)).isCloseTo(1 + 8, within(1e-6));
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 4, 8, 64})
    void shouldTakeNoLessTimeOnMoreNodesThatEachHaveTheSameRows(int nodes) {
        Node node = node(DEVICE, 20e9, 10e9);
        assertThat(seconds(node, 2 * nodes, 20e9))
                .isGreaterThanOrEqualTo(seconds(node, nodes, 20e9));
    }

    @Test
    void shouldTakeNoMoreTimeThanTheBlockingJoinOverOneBus() {
        PipelinedJoin join =
                new PipelinedJoin(
                        new Cluster(Hardware.v100(), 4), RdmaJoin.fitted().hostPassBytesPerS());
        assertThat(join.pipelined(TABLES).seconds())
                .isLessThan(join.blockingWithoutGpuDirect(TABLES).seconds());
    }
}
