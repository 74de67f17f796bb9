// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * The pipelined join of Thostrup et al., "Distributed GPU Joins on Fast RDMA-capable Networks",
 * section 4: CPUs read both tables for histograms, then partition and send the build side, then the
 * probe side. The GPU inserts or probes while they send.
 */
final class PipelinedJoin {

    private final Cluster cluster;
    private final double hostPassBytesPerS;

    /**
     * @param cluster one device a node
     * @param hostPassBytesPerS rate at which the CPU cores of a node read tuples once, for a
     *     histogram or to partition and send them
     */
    PipelinedJoin(Cluster cluster, double hostPassBytesPerS) {
        this.cluster = cluster;
        this.hostPassBytesPerS = hostPassBytesPerS;
    }

    /** Time without materialisation: matches are counted. */
    Stage pipelined(TablePair tables) {
        Device device = cluster.node().device();
        double buildRows = tables.build().rows();
        double probeRows = tables.probe().rows();
        return Stage.sequence(
                "pipelined",
                histogram(tables),
                shuffleToDevice(tables.build(), Stage.of("insert", device.atomicS(buildRows))),
                // The head of a chain, and the row it refers to.
                shuffleToDevice(tables.probe(), Stage.of("probe", device.gatherS(2 * probeRows))));
    }

    /**
     * Time of the blocking join without GPUDirect: shuffle to host memory, copy over the bus, then
     * a radix join on the GPU.
     */
    Stage blockingWithoutGpuDirect(TablePair tables) {
        double bytes = tables.bytes();
        return Stage.sequence(
                "blocking",
                histogram(tables),
                Stage.overlap("shuffle", hostPass(bytes), network(bytes)),
                Stage.of("copy", cluster.node().bus().seconds(bytes, 0)),
                RadixJoin.counted(cluster.node().device(), tables));
    }

    private Stage histogram(TablePair tables) {
        return Stage.of("histogram", tables.bytes() / hostPassBytesPerS);
    }

    /** The device receives all its tuples over its bus, from the network card or the local CPU. */
    private Stage shuffleToDevice(Table table, Stage kernel) {
        double bytes = table.bytes();
        return Stage.overlap(
                "shuffle",
                hostPass(bytes),
                network(bytes),
                Stage.of("bus", cluster.node().bus().seconds(bytes, 0)),
                kernel);
    }

    private Stage hostPass(double bytes) {
        return Stage.of("partition and send", bytes / hostPassBytesPerS);
    }

    private Stage network(double bytes) {
        return Stage.of(
                "network", cluster.node().network().seconds(bytes * cluster.remoteNodeShare(), 0));
    }
}
