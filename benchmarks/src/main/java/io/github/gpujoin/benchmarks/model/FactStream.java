// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * Facts that this project's kernel reads in place from pinned rings and counts against a table of
 * 2^27 rows or more.
 */
final class FactStream {

    /** Where the table of a join over several devices lies. */
    enum Placement {
        REPLICATED,
        SHARDED
    }

    private final Cluster cluster;
    private final double busBytes;
    private final double networkBytes;

    /**
     * @param busBytes what the kernel reads of a fact
     * @param networkBytes what the network carries of a fact that another node sends
     */
    FactStream(Cluster cluster, double busBytes, double networkBytes) {
        this.cluster = cluster;
        this.busBytes = busBytes;
        this.networkBytes = networkBytes;
    }

    /** Returns facts a second of all devices, in G. */
    double gFactsPerS(Placement placement) {
        return cluster.devices() / perFact(placement).seconds() / 1e9;
    }

    /** Time of one fact of each device: bus, network and look-ups overlap. */
    Stage perFact(Placement placement) {
        Node node = cluster.node();
        return Stage.overlap(
                "fact",
                Stage.of("bus", node.bus().seconds(busBytes, 0) / kernelShare()),
                Stage.of(
                        "network",
                        node.network().seconds(networkBytes * cluster.remoteNodeShare(), 0)),
                placement == Placement.REPLICATED
                        ? Stage.of("look-ups", node.device().gatherS(Inputs.FACT_GATHERS.base()))
                        : shardedLookups(node, Inputs.FACT_GATHERS.base()));
    }

    /** Gathers of a device from its own shard and from its peers overlap. */
    static Stage shardedLookups(Node node, double gathers) {
        double local = gathers / node.devices();
        return Stage.overlap(
                "look-ups",
                Stage.of("local", node.device().gatherS(local)),
                Stage.of("peer", (gathers - local) / Inputs.H200_PEER_GATHER.base()));
    }

    /** Share of the bus that the kernel reaches with 16-byte facts on one device. */
    private static double kernelShare() {
        return Inputs.H200_RING.base() * 16 / Inputs.H200_BUS_READ.base();
    }
}
