// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.workload;

/** A build tuple as a Flink POJO. */
public final class BuildRow {

    public long buildKey;
    public long buildPayload;

    public BuildRow() {}

    public BuildRow(long buildKey, long buildPayload) {
        this.buildKey = buildKey;
        this.buildPayload = buildPayload;
    }
}
