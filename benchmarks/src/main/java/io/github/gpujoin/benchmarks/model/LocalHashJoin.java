// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * The local join of Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs", section 3.3: open
 * addressing, entries of a hash and a row number, half occupied; two probes, one to count and one
 * to record; then the matches are materialised.
 *
 * <p>Each access to an entry or row at random is a gather, as if no two were neighbours.
 */
final class LocalHashJoin {

    private static final double OCCUPANCY = 0.5;
    private static final double ENTRY_BYTES = 8;
    private static final double PAIR_BYTES = 8;
    private static final double SECTOR_BYTES = 32;
    private static final int PROBES = 2;

    private LocalHashJoin() {}

    static Stage of(Device device, TablePair tables) {
        return Stage.sequence(
                "local join",
                build(device, tables.build()),
                probe(device, tables),
                materialise(device, tables));
    }

    private static Stage build(Device device, Table build) {
        return Stage.of(
                "build",
                device.streamS(build.rows() * build.keyBytes())
                        + device.atomicS(build.rows() * sectors(visitedByHit())));
    }

    /** Both probes read the keys; a match also reads the key of its build row. */
    private static Stage probe(Device device, TablePair tables) {
        double rows = tables.probe().rows();
        double gathersPerRow =
                tables.matchShare() * (sectors(visitedByHit()) + 1)
                        + (1 - tables.matchShare()) * sectors(visitedByMiss());
        return Stage.of(
                "probe",
                PROBES
                        * (device.streamS(rows * tables.probe().keyBytes())
                                + device.gatherS(rows * gathersPerRow)));
    }

    /** Probe rows are read in order, build payloads at random. */
    private static Stage materialise(Device device, TablePair tables) {
        double matches = tables.matchShare() * tables.probe().rows();
        double streamed =
                2 * PAIR_BYTES + 2 * tables.probe().rowBytes() + tables.build().payloadBytes();
        int gathers = tables.build().payloadColumnBytes().size();
        return Stage.of(
                "materialise",
                device.streamS(matches * streamed) + device.gatherS(matches * gathers));
    }

    /** Slots that a search visits, by Knuth's formulas for linear probing. */
    private static double visitedByHit() {
        return (1 + 1 / (1 - OCCUPANCY)) / 2;
    }

    private static double visitedByMiss() {
        return (1 + 1 / ((1 - OCCUPANCY) * (1 - OCCUPANCY))) / 2;
    }

    /** Slots of a search lie side by side, so few leave the first sector. */
    private static double sectors(double slots) {
        return 1 + (slots - 1) * ENTRY_BYTES / SECTOR_BYTES;
    }
}
