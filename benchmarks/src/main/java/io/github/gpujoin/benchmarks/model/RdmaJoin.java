// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.List;

/** The cluster, the joins and the published figures of Thostrup et al. (SIGMOD 2023). */
final class RdmaJoin {

    private static final String PAPER = "Thostrup et al., ";
    private static final List<Integer> PAYLOAD = List.of(8);
    private static final int CONCURRENT_JOINS = 4;
    private static final int MIDDLE_NODES = 4;
    private static final int FEWEST_NODES = 2;
    private static final int MOST_NODES = 10;
    private static final double CONCURRENT_S = 4;

    private final double hostPassBytesPerS;

    private RdmaJoin(double hostPassBytesPerS) {
        this.hostPassBytesPerS = hostPassBytesPerS;
    }

    /** Fits the rate of a pass of the CPU to the time of four concurrent joins. */
    static RdmaJoin fitted() {
        return new RdmaJoin(
                Fit.zero(rate -> new RdmaJoin(rate).concurrentS() - CONCURRENT_S, 1e9, 1e12));
    }

    double hostPassBytesPerS() {
        return hostPassBytesPerS;
    }

    private PipelinedJoin join(int nodes) {
        return new PipelinedJoin(new Cluster(Hardware.v100(), nodes), hostPassBytesPerS);
    }

    private static TablePair tables(double buildRows, double probeRows) {
        return new TablePair(new Table(buildRows, 8, PAYLOAD), new Table(probeRows, 8, PAYLOAD), 1);
    }

    /** Joins that divide the resources take as long together as one join of all their rows. */
    private double concurrentS() {
        double share = (double) CONCURRENT_JOINS / MIDDLE_NODES;
        return join(MIDDLE_NODES).pipelined(tables(200e6 * share, 2e9 * share)).seconds();
    }

    /** Weak scaling: 300 M build and 1200 M probe rows a node. */
    double gTuplesPerS(int nodes) {
        TablePair perNode = tables(300e6, 1200e6);
        return perNode.rows() * nodes / join(nodes).pipelined(perNode).seconds() / 1e9;
    }

    /** SSB 2.1 at scale factor 1000, whose time is that of the facts; widths cancel out. */
    private double starQueryS(int nodes) {
        return join(nodes).pipelined(tables(0, 6e9 / nodes)).seconds();
    }

    List<Constant> constants() {
        return List.of(
                new Constant(
                        "V100 cluster: tuples that the 14 cores of a node read once, for a histogram"
                                + " or to partition and send",
                        hostPassBytesPerS / 1e9,
                        "GB/s",
                        "the time of four concurrent joins on 4 nodes"));
    }

    List<PublishedPoint> points() {
        TablePair quarter = tables(600e6 / MIDDLE_NODES, 4e9 / MIDDLE_NODES);
        return List.of(
                PublishedPoint.fitted(
                                "concurrent-4-nodes",
                                PAPER + "6.5, figure 19",
                                "four concurrent joins, 200 M x 2000 M rows each, 4 nodes",
                                CONCURRENT_S,
                                concurrentS(),
                                "s")
                        .approximately(),
                PublishedPoint.validated(
                                "scale-out-2-to-10",
                                PAPER + "6.2.2, figure 12",
                                "throughput of 10 nodes by that of 2, rows grow with the nodes",
                                4.4,
                                gTuplesPerS(MOST_NODES) / gTuplesPerS(FEWEST_NODES),
                                "times")
                        .approximately()
                        .because(
                                "The model's network loses no rate with more nodes. The paper has"
                                        + " no figure for such a loss."),
                PublishedPoint.validated(
                                "ssb-2-to-4",
                                PAPER + "6.3, figures 13 and 15",
                                "SSB 2.1: time of 2 nodes by that of 4",
                                2,
                                starQueryS(FEWEST_NODES) / starQueryS(MIDDLE_NODES),
                                "times")
                        .approximately(),
                PublishedPoint.validated(
                                "blocking-4-nodes",
                                PAPER + "6.2.1, figure 9",
                                "time of the blocking join without GPUDirect by that of the"
                                        + " pipelined one, 600 M x 4000 M rows",
                                2,
                                join(MIDDLE_NODES).blockingWithoutGpuDirect(quarter).seconds()
                                        / join(MIDDLE_NODES).pipelined(quarter).seconds(),
                                "times")
                        .approximately()
                        .beyond(
                                "A shuffle to host memory is slower than one to GPUs, because CPU"
                                        + " cores and network card write the same memory (section"
                                        + " 6.2.2, without a figure). The number of nodes is not"
                                        + " stated; the model assumes 4."));
    }
}
