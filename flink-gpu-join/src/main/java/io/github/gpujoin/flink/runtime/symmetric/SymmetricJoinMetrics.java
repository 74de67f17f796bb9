// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoinStats;
import io.github.gpujoin.flink.metrics.JoinMetrics;
import io.github.gpujoin.flink.state.LogBytes;
import io.github.gpujoin.kernels.binding.GpuFailure;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.Gauge;
import org.apache.flink.metrics.MetricGroup;

/**
 * Counts and registers metrics of a regular join. The task's thread counts while a reporter's
 * thread reads.
 */
final class SymmetricJoinMetrics {

    private static final SymmetricJoinStats NONE = new SymmetricJoinStats(List.of(), 0, 0, 0, 0);

    private final List<Counter> receivedRows;
    private final MetricGroup group;
    private final Counter resultRows;
    private volatile SymmetricJoinStats stats = NONE;
    private boolean hasFallenBack;
    private volatile int waitingChunks;
    private volatile int spilledPartitions;

    /**
     * @param labels of the inputs
     * @param engine returns the name of the implementation
     */
    SymmetricJoinMetrics(
            MetricGroup operatorGroup, List<String> labels, Gauge<String> engine, LogBytes logged) {
        group = operatorGroup.addGroup(JoinMetrics.GROUP);
        group.gauge("engine", engine);
        receivedRows = labels.stream().map(label -> group.counter(label + "Rows")).toList();
        resultRows = group.counter("resultRows");
        for (int i = 0; i < labels.size(); i++) {
            int input = i;
            gauge(group, labels.get(i) + "TableRows", () -> tableRows(input));
        }
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

    private long tableRows(int input) {
        SymmetricJoinStats current = stats;
        return current == NONE ? 0 : current.tableRows().get(input);
    }

    /** Counts a fallback from a GPU, once. */
    void fellBack(GpuFailure reason) {
        if (!hasFallenBack) {
            hasFallenBack = true;
            group.addGroup("reason", reason.name()).counter("fallbacks").inc();
        }
    }

    void received(int input, Chunk chunk) {
        receivedRows.get(input).inc(chunk.rowCount());
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
