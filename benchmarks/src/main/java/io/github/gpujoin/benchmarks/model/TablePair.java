// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.model;

/**
 * Both sides of a join on each device.
 *
 * @param matchShare share of probe rows with a match; each has one
 */
record TablePair(Table build, Table probe, double matchShare) {

    double rows() {
        return build.rows() + probe.rows();
    }

    double bytes() {
        return build.bytes() + probe.bytes();
    }

    int columns() {
        return build.columns() + probe.columns();
    }

    TablePair withRows(double buildRows, double probeRows) {
        return new TablePair(
                new Table(buildRows, build.keyBytes(), build.payloadColumnBytes()),
                new Table(probeRows, probe.keyBytes(), probe.payloadColumnBytes()),
                matchShare);
    }
}
