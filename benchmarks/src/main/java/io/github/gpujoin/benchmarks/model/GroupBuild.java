// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

import java.util.List;

/**
 * The build of a dimension on several devices of a host, from rows in pinned host memory. Steps
 * follow one another, because kernels build the table at the end of the load.
 */
final class GroupBuild {

    private static final double MEASURED_ROWS = 1 << 27;

    private final Node node;
    private final Table rows;

    /** A table of so many unique rows with a key and a payload of 8 bytes each. */
    GroupBuild(Node node, double rows) {
        this.node = node;
        this.rows = new Table(rows, 8, List.of(8));
    }

    /** Each device reads all rows and builds the whole table. */
    Stage redundant() {
        return Stage.sequence("redundant", upload(rows.bytes()), table(rows.rows()));
    }

    /** Each row is read by one device, then sent to the device that has its hash range. */
    Stage cooperativeSharded() {
        return Stage.sequence(
                "sharded", upload(share(rows.bytes())), divide(), table(share(rows.rows())));
    }

    /** The same; then each device copies the other devices' shards. */
    Stage cooperativeReplicated() {
        double tableBytes = rows.rows() * Inputs.TABLE_ROW_BYTES.base();
        return Stage.sequence(
                "replicated",
                cooperativeSharded(),
                Stage.of("all-gather", node.peers().seconds(tableBytes - share(tableBytes), 0)));
    }

    private double share(double all) {
        return all / node.devices();
    }

    private Stage upload(double bytes) {
        return Stage.of("upload", node.bus().seconds(bytes, 0));
    }

    private Stage divide() {
        double mine = share(rows.rows());
        double sent = share(rows.bytes()) - share(share(rows.bytes()));
        return Stage.sequence(
                "divide",
                Stage.of(
                        "partition",
                        node.devices() == 1
                                ? 0
                                : node.device()
                                        .streamS(mine * (rows.keyBytes() + 2 * rows.rowBytes()))),
                Stage.of("exchange", node.peers().seconds(sent, 0)));
    }

    private static Stage table(double rows) {
        return Stage.of("table", rows / MEASURED_ROWS * Inputs.H200_TABLE.base());
    }
}
