// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

/** A result row as a Flink POJO. */
public final class JoinedRow {

    public long probePayload;
    public long buildPayload;

    public JoinedRow() {}

    public JoinedRow(long probePayload, long buildPayload) {
        this.probePayload = probePayload;
        this.buildPayload = buildPayload;
    }
}
