// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

/** A probe tuple as a Flink POJO. */
public final class ProbeRow {

    public long probeKey;
    public long probePayload;

    public ProbeRow() {}

    public ProbeRow(long probeKey, long probePayload) {
        this.probeKey = probeKey;
        this.probePayload = probePayload;
    }
}
