// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import io.github.gpujoin.benchmarks.model.FactStream.Placement;
import java.util.List;
import java.util.function.IntToDoubleFunction;

/** This project's joins on H200s: what was measured, and predictions for more of them. */
final class OwnJoins {

    static final List<Integer> DEVICES = List.of(1, 2, 4, 8);
    private static final List<Integer> NODES = List.of(2, 4, 8, 16);
    private static final List<Integer> GIGABITS = List.of(100, 200, 400);
    private static final double PLAIN_BYTES = 16;
    private static final double BUILD_ROWS = 1 << 29;
    private static final double BITS_PER_BYTE = 8;

    /** No network: a link that is never the bound, and that no byte crosses. */
    private static final Link NO_NETWORK = new Link(Double.MAX_VALUE);

    private static final TablePair RESIDENT =
            new TablePair(new Table(1 << 27, 8, List.of(8)), new Table(1 << 29, 8, List.of(8)), 1);

    private static final String SPREAD_RUN = "nvidia-h200-x2-repartitioned-join-2026-11-27.txt";
    private static final double SPREAD_RATE_OF_2 = 57.8;
    private static final double SPREAD_RATE_OF_2_EVEN = 47.0;

    private OwnJoins() {}

    private static Node host(int devices) {
        return Hardware.h200(devices, NO_NETWORK);
    }

    private static double facts(int devices, double bytes, Placement placement) {
        return new FactStream(new Cluster(host(devices), 1), bytes, 0).gFactsPerS(placement);
    }

    static List<PublishedPoint> points() {
        return List.of(
                PublishedPoint.validated(
                        "facts-8-bytes",
                        result("nvidia-h200-2026-11-21.json"),
                        "facts of 8 bytes from pinned rings, counted, one H200",
                        6.31,
                        facts(1, 8, Placement.REPLICATED),
                        "G facts/s"),
                PublishedPoint.validated(
                        "facts-16-bytes-2",
                        result("nvidia-h200-x2-rings-2026-11-26.txt"),
                        "facts of 16 bytes from pinned rings, counted, two H200s, a process each",
                        3.13034 + 3.13590,
                        facts(2, PLAIN_BYTES, Placement.REPLICATED),
                        "G facts/s"),
                PublishedPoint.validated(
                        "facts-16-bytes-4",
                        result("nvidia-h200-x4-group-2026-11-27.txt"),
                        "facts of 16 bytes from pinned rings, counted, four H200s, replicated table",
                        8.89,
                        facts(4, PLAIN_BYTES, Placement.REPLICATED),
                        "G facts/s"),
                PublishedPoint.validated(
                        "facts-16-bytes-4-sharded",
                        result("nvidia-h200-x4-group-2026-11-27.txt"),
                        "facts of 16 bytes from pinned rings, counted, four H200s, sharded table",
                        9.64,
                        facts(4, PLAIN_BYTES, Placement.SHARDED),
                        "G facts/s"),
                PublishedPoint.validated(
                        "facts-encoded",
                        result("nvidia-h200-encoded-2026-11-24.txt"),
                        "facts of 27-bit keys, encoded, counted, one H200",
                        14.81,
                        facts(1, Inputs.ENCODED_FACT_BYTES.base(), Placement.REPLICATED),
                        "G facts/s"),
                PublishedPoint.validated(
                                "resident-join",
                                result("nvidia-h200-resident-join-2026-11-21.txt"),
                                "2^27 x 2^29 rows of 16 bytes in device memory, one H200",
                                36.32,
                                resident(1),
                                "G tuples/s")
                        .because(
                                "The passes reach 87 % of the copy rate; [notes]"
                                        + "(performance-notes-resident-join.md#remaining-time)"
                                        + " explain the rest."),
                PublishedPoint.validated(
                                "spread-join-2",
                                result(SPREAD_RUN),
                                "2^28 x 2^30 rows of 16 bytes spread over two H200s",
                                SPREAD_RATE_OF_2,
                                spread(2, 28, 30),
                                "G tuples/s")
                        .because(
                                "Steps that run at once move 88 % of the bytes of a copy; [notes]"
                                        + "(performance-notes-repartitioned-join.md#the-bound)"
                                        + " explain the rest."),
                PublishedPoint.validated(
                        "gathers-2",
                        result(Inputs.GROUP_RUN),
                        "random gathers over the memory of two H200s, a device",
                        13.14,
                        gathers(2),
                        "G/s"),
                PublishedPoint.validated(
                        "gathers-4",
                        "kernel on four H200s; no result file",
                        "random gathers over the memory of four H200s, in all",
                        35,
                        4 * gathers(4),
                        "G/s"));
    }

    private static String result(String file) {
        return "[%s](../benchmarks/results/%s)".formatted(file, file);
    }

    /** G gathers a second of each device over the memory of all. */
    private static double gathers(int devices) {
        return 1 / FactStream.shardedLookups(host(devices), 1).seconds() / 1e9;
    }

    /** Join of tables in device memory, so many rows on each device. */
    private static double resident(int devices) {
        Stage local = RadixJoin.materialised(host(devices).device(), RESIDENT);
        Stage join = new RepartitionedJoin(new Cluster(host(devices), 1), RESIDENT).oneLevel(local);
        return RESIDENT.rows() * devices / join.seconds() / 1e9;
    }

    private static double fused(int devices) {
        Stage join =
                RadixJoin.acrossPeers(
                        new Cluster(host(devices), 1),
                        RESIDENT,
                        new Link(Inputs.H200_PEER_STORE.base()));
        return RESIDENT.rows() * devices / join.seconds() / 1e9;
    }

    /** Join of 2^build x 2^probe rows of 16 bytes in all, exchanged by stores, in chunks. */
    private static double spread(int devices, int build, int probe) {
        TablePair tables =
                RESIDENT.withRows(Math.pow(2, build) / devices, Math.pow(2, probe) / devices);
        Stage join =
                RadixJoin.inChunks(
                        new Cluster(host(devices), 1),
                        tables,
                        new Link(Inputs.H200_PEER_STORE.base()));
        return tables.rows() * devices / join.seconds() / 1e9;
    }

    static List<Grid> predictions() {
        return List.of(pinnedRings(), build(), residentJoin(), spreadJoin(), network());
    }

    private static Grid pinnedRings() {
        double encoded = Inputs.ENCODED_FACT_BYTES.base();
        return new Grid(
                "facts-from-pinned-rings",
                "Facts from pinned rings, counted, H200s of one host",
                "GPUs",
                names(DEVICES),
                "G facts/s",
                List.of(
                        byDevices(
                                "16 bytes, replicated table",
                                n -> facts(n, PLAIN_BYTES, Placement.REPLICATED)),
                        byDevices(
                                "16 bytes, sharded table",
                                n -> facts(n, PLAIN_BYTES, Placement.SHARDED)),
                        byDevices(
                                "27-bit keys encoded, replicated table",
                                n -> facts(n, encoded, Placement.REPLICATED)),
                        byDevices(
                                "27-bit keys encoded, sharded table",
                                n -> facts(n, encoded, Placement.SHARDED))));
    }

    private static Grid build() {
        return new Grid(
                "build",
                "Build of 2^29 rows of 16 bytes, from pinned host memory, H200s of one host",
                "GPUs",
                names(DEVICES),
                "ms",
                List.of(
                        byDevices(
                                "redundant, replicated",
                                n ->
                                        1e3
                                                * new GroupBuild(host(n), BUILD_ROWS)
                                                        .redundant()
                                                        .seconds()),
                        byDevices(
                                "cooperative, replicated",
                                n ->
                                        1e3
                                                * new GroupBuild(host(n), BUILD_ROWS)
                                                        .cooperativeReplicated()
                                                        .seconds()),
                        byDevices(
                                "cooperative, sharded",
                                n ->
                                        1e3
                                                * new GroupBuild(host(n), BUILD_ROWS)
                                                        .cooperativeSharded()
                                                        .seconds())));
    }

    private static Grid residentJoin() {
        return new Grid(
                "resident-join",
                "Join of tables in device memory, 2^27 x 2^29 rows of 16 bytes a GPU, repartitioned",
                "GPUs",
                names(DEVICES),
                "G tuples/s",
                List.of(
                        byDevices("exchange by copies, then a radix join", OwnJoins::resident),
                        byDevices("exchange by stores of the first pass", OwnJoins::fused)));
    }

    /**
     * Two GPUs reach a smaller share of the bound if there are as many build as probe rows, since
     * blocks wait at barriers while they build tables in shared memory.
     */
    private static Grid spreadJoin() {
        double reached = SPREAD_RATE_OF_2 / spread(2, 28, 30);
        double reachedOfEven = SPREAD_RATE_OF_2_EVEN / spread(2, 29, 29);
        return new Grid(
                "spread-join",
                "Join of tables spread over the memory of H200s, rows of 16 bytes in all,"
                        + " exchanged by stores in three chunks",
                "GPUs",
                names(DEVICES.subList(1, DEVICES.size())),
                "G tuples/s",
                List.of(
                        spreadOver("2^29 x 2^31, bound", n -> spread(n, 29, 31)),
                        spreadOver(
                                "2^29 x 2^31, at the share of the bound that two GPUs reach",
                                n -> reached * spread(n, 29, 31)),
                        spreadOver("2^29 x 2^29, bound", n -> spread(n, 29, 29)),
                        spreadOver(
                                "2^29 x 2^29, at the share of the bound that two GPUs reach",
                                n -> reachedOfEven * spread(n, 29, 29))));
    }

    private static Grid.Row spreadOver(String label, IntToDoubleFunction value) {
        return new Grid.Row(
                label, DEVICES.stream().filter(n -> n > 1).map(value::applyAsDouble).toList());
    }

    private static Grid network() {
        return new Grid(
                "facts-over-network",
                "Facts that other nodes send, counted, one H200 and one card a node",
                "nodes",
                names(NODES),
                "G facts/s",
                GIGABITS.stream()
                        .flatMap(
                                gigabits ->
                                        List.of(
                                                overNetwork(gigabits, false),
                                                overNetwork(gigabits, true))
                                                .stream())
                        .toList());
    }

    private static Grid.Row overNetwork(int gigabits, boolean encoded) {
        double sent = encoded ? Inputs.ENCODED_TUPLE_BYTES.base() : PLAIN_BYTES;
        double read = encoded ? Inputs.ENCODED_FACT_BYTES.base() : PLAIN_BYTES;
        Node node = Hardware.h200(1, Hardware.network(gigabits * 1e9 / BITS_PER_BYTE));
        return new Grid.Row(
                gigabits + " Gb/s, " + (encoded ? "encoded, 5.9 bytes" : "16 bytes"),
                NODES.stream()
                        .map(
                                nodes ->
                                        new FactStream(new Cluster(node, nodes), read, sent)
                                                .gFactsPerS(Placement.REPLICATED))
                        .toList());
    }

    private static Grid.Row byDevices(String label, IntToDoubleFunction value) {
        return new Grid.Row(label, DEVICES.stream().map(value::applyAsDouble).toList());
    }

    private static List<String> names(List<Integer> counts) {
        return counts.stream().map(String::valueOf).toList();
    }
}
