// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * A join of tables in device memory: two radix passes over both sides, then a join of partitions in
 * shared memory. The bytes are those of docs/performance-notes-resident-join.md.
 */
final class RadixJoin {

    private static final int PASSES = 2;

    /** Chunks of the probe table in the join of spread tables; chunk k has k + 1 shares of rows. */
    private static final int CHUNKS = 3;

    private static final double FIRST_CHUNK_SHARE = 1.0 / 6;

    private RadixJoin() {}

    /** Each pass reads and writes all rows; the join reads them and counts matches. */
    static Stage counted(Device device, TablePair tables) {
        return Stage.of("radix join", device.streamS(tables.bytes() * (2 * PASSES + 1)));
    }

    /**
     * Joins the tables of several devices: the first pass stores rows to the device that owns their
     * partition, so it is also the exchange.
     *
     * @param stores between one device and its peers, for runs of rows that a pass writes
     */
    static Stage acrossPeers(Cluster cluster, TablePair tables, Link stores) {
        Device device = cluster.node().device();
        double firstPass = 2 * tables.bytes();
        return Stage.sequence(
                "radix join across peers",
                Stage.overlap(
                        "first pass",
                        Stage.of("memory", device.streamS(firstPass)),
                        Stage.of(
                                "stores", stores.seconds(tables.bytes() * cluster.peerShare(), 0))),
                Stage.of(
                        "remaining passes",
                        materialised(device, tables).seconds() - device.streamS(firstPass)));
    }

    /**
     * Joins the tables of several devices in chunks: while the first pass of a chunk stores rows to
     * their owners, the chunk before is partitioned and joined. Nothing overlaps with the exchange
     * of the build table and the first chunk. The bytes are those of
     * docs/performance-notes-repartitioned-join.md: each chunk reads the build rows once more.
     *
     * @param stores between one device and its peers, for runs of rows that a pass writes
     */
    static Stage inChunks(Cluster cluster, TablePair tables, Link stores) {
        Device device = cluster.node().device();
        double crossing = cluster.peerShare();
        double first = tables.build().bytes() + FIRST_CHUNK_SHARE * tables.probe().bytes();
        double memory = materialised(device, tables).seconds();
        double rereads = device.streamS((CHUNKS - 1) * tables.build().bytes());
        return Stage.sequence(
                "radix join in chunks",
                Stage.overlap(
                        "exchange of build table and first chunk",
                        Stage.of("memory", device.streamS(2 * first)),
                        Stage.of("stores", stores.seconds(first * crossing, 0))),
                Stage.overlap(
                        "all other steps",
                        Stage.of("memory", memory + rereads - device.streamS(2 * first)),
                        Stage.of(
                                "stores", stores.seconds((tables.bytes() - first) * crossing, 0))));
    }

    /** Also writes key and both payloads of each match. */
    static Stage materialised(Device device, TablePair tables) {
        double matches = tables.matchShare() * tables.probe().rows();
        int resultBytes = tables.probe().rowBytes() + tables.build().payloadBytes();
        return Stage.sequence(
                "materialised radix join",
                counted(device, tables),
                Stage.of("results", device.streamS(matches * resultBytes)));
    }
}
