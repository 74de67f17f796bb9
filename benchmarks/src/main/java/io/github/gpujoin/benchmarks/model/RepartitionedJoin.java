// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * The repartitioned join of Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs", algorithms 1
 * and 2. Its steps follow one another: computation and communication do not overlap (section 8).
 */
final class RepartitionedJoin {

    static final String EXCHANGE = "exchange";

    private final Cluster cluster;
    private final TablePair tables;

    /**
     * @param tables of each device
     */
    RepartitionedJoin(Cluster cluster, TablePair tables) {
        this.cluster = cluster;
        this.tables = tables;
    }

    private Device device() {
        return cluster.node().device();
    }

    /** One exchange, from each device to each. */
    Stage oneLevel() {
        return oneLevel(localJoin());
    }

    /** The same with another join of the exchanged tables. */
    Stage oneLevel(Stage localJoin) {
        return Stage.sequence("one-level", partition(cluster.devices()), exchange(1), localJoin);
    }

    /**
     * One exchange, with compressed bytes on the network. Within one node nothing is compressed.
     */
    Stage compressed(Compression compression) {
        if (cluster.nodes() == 1) {
            return oneLevel();
        }
        return Stage.sequence(
                "compressed",
                partition(cluster.devices()),
                Stage.of("compress", tables.bytes() / compression.compressBytesPerS()),
                exchange(compression.ratio()),
                Stage.of("decompress", tables.bytes() / compression.decompressBytesPerS()),
                localJoin());
    }

    /** An exchange between nodes, then one within each node. */
    Stage twoLevel() {
        int peers = cluster.node().devices();
        double acrossNodes =
                cluster.node()
                        .network()
                        .seconds(
                                tables.bytes() * cluster.remoteNodeShare(),
                                (double) tables.columns() * (cluster.nodes() - 1));
        double withinNode =
                cluster.node()
                        .peers()
                        .seconds(
                                tables.bytes() * (peers - 1) / peers,
                                (double) tables.columns() * (peers - 1));
        return Stage.sequence(
                "two-level",
                partition(cluster.nodes()),
                Stage.of(EXCHANGE, acrossNodes),
                partition(peers),
                Stage.of(EXCHANGE, withinNode),
                localJoin());
    }

    /** Messages of one column that one device sends in the exchange of one level. */
    int messagesPerColumn() {
        return cluster.devices() - 1;
    }

    /** One pass reads the keys for the histogram; one reads and writes all columns. */
    private Stage partition(int partitions) {
        if (partitions == 1) {
            return Stage.of("partition", 0);
        }
        return Stage.of(
                "partition",
                device().streamS(partitionBytes(tables.build()) + partitionBytes(tables.probe())));
    }

    private static double partitionBytes(Table table) {
        return table.rows() * (table.keyBytes() + 2 * table.rowBytes());
    }

    /**
     * All transfers are posted at once, so those over NVLink and those over the network overlap.
     */
    private Stage exchange(double ratio) {
        double bytes = tables.bytes() * cluster.remoteNodeShare() / ratio;
        double messages =
                cluster.nodes() == 1 ? 0 : (double) tables.columns() * messagesPerColumn();
        return Stage.overlap(
                EXCHANGE,
                Stage.of("network", cluster.node().network().seconds(bytes, messages)),
                Stage.of("bus", cluster.node().bus().seconds(bytes, 0)),
                Stage.of(
                        "peers",
                        cluster.node().peers().seconds(tables.bytes() * cluster.peerShare(), 0)));
    }

    private Stage localJoin() {
        return LocalHashJoin.of(device(), tables);
    }
}
