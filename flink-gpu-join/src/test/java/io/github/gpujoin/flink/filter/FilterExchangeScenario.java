// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyFilterBuilder;
import io.github.gpujoin.flink.api.explain.Distribution;
import java.util.List;
import java.util.stream.LongStream;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.executiongraph.ExecutionGraphID;
import org.apache.flink.runtime.jobgraph.JobVertexID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.scheduler.strategy.ExecutionVertexID;

/** A join with a dimension that each subtask has, and another that is partitioned. */
abstract class FilterExchangeScenario {

    static final int SUBTASKS = 2;
    static final int MAX_BYTES = 1 << 21;
    static final long WAIT_MS = 5_000;

    /** Of which each subtask has all keys. */
    static final int WHOLE = 0;

    /** Of which each subtask has its partitions. */
    static final int PARTS = 1;

    final ExecutionGraphID graph = new ExecutionGraphID();
    final JobVertexID join = new JobVertexID();
    final JobVertexID packer = new JobVertexID();

    static FilterPlan plan(int maxBytes) {
        return new FilterPlan(
                "join",
                new OperatorID(),
                List.of(
                        new FilteringDimension(WHOLE, "whole", 0, Distribution.REPLICATED),
                        new FilteringDimension(PARTS, "parts", 1, Distribution.PARTITIONED)),
                maxBytes,
                List.of());
    }

    ExecutionAttemptID id(JobVertexID vertex, int subtask, int attempt) {
        return new ExecutionAttemptID(graph, new ExecutionVertexID(vertex, subtask), attempt);
    }

    ExecutionAttemptID packer(int subtask, int attempt) {
        return id(packer, subtask, attempt);
    }

    static KeyFilterBuilder keys(int maxBytes, LongStream keys) {
        KeyFilterBuilder builder = new KeyFilterBuilder(maxBytes);
        keys.forEach(builder::add);
        return builder;
    }
}
