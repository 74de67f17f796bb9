// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.state.LogBytes;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Counts and registers metrics of a regular join. The task's thread counts while a reporter's
 * thread reads.
 */
final class SymmetricJoinMetrics {

    private static final SymmetricJoinStats NONE = new SymmetricJoinStats(0, 0, 0, 0, 0, 0);

    private final Counter leftRows;
    private final Counter rightRows;
    private final Counter resultRows;
    private volatile SymmetricJoinStats stats = NONE;
    private volatile int waitingChunks;
    private volatile int spilledPartitions;

    SymmetricJoinMetrics(MetricGroup operatorGroup, String engine, LogBytes logged) {
        MetricGroup group = operatorGroup.addGroup(JoinMetrics.GROUP);
        group.gauge("engine", () -> engine);
        leftRows = group.counter("leftRows");
        rightRows = group.counter("rightRows");
        resultRows = group.counter("resultRows");
        gauge(group, "leftTableRows", () -> stats.leftRows());
        gauge(group, "rightTableRows", () -> stats.rightRows());
        gauge(group, "tableBytes", () -> stats.memoryBytes());
        gauge(group, "spilledBytes", () -> stats.spilledBytes());
        gauge(group, "unknownRetractions", () -> stats.unknownRetractions());
        gauge(group, "expiredRows", () -> stats.expiredRows());
        group.gauge("waitingChunks", () -> waitingChunks);
        group.gauge("spilledPartitions", () -> spilledPartitions);
        logged.register(group);
    }

    private static void gauge(MetricGroup group, String name, Gauge<Long> value) {
        group.gauge(name, value);
    }

    void received(JoinSide side, Chunk chunk) {
        (side == JoinSide.LEFT ? leftRows : rightRows).inc(chunk.rowCount());
    }

    void emitted(SymmetricBatch batch) {
        resultRows.inc(batch.resultCount());
    }

    /** Publishes counts of the join, which only the task's thread may read. */
    void update(SymmetricJoinStats current, int waiting, int spilled) {
        stats = current;
        waitingChunks = waiting;
        spilledPartitions = spilled;
    }
}
