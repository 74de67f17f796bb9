// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.api.options.LateDimensionRows;
import io.github.gpujoin.flink.emit.ChunkRows;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;

/**
 * Applies the policy to late rows, which arrive after their dimension is complete: fails, drops
 * them, or emits them to a side output. Late rows are in no result. Runs in the task's mailbox
 * thread.
 */
public final class LateRows {

    private final JoinSpec spec;
    private final LateRowPolicy policy;
    private final Output<?> output;
    private final Counter counter;
    private final boolean emitsReplicated;
    private final Map<Integer, ChunkRows> rows = new HashMap<>();

    /**
     * @param counter of late rows, also of those in side outputs
     * @param emitsReplicated whether this subtask emits rows that every subtask receives
     */
    public LateRows(
            JoinSpec spec,
            LateRowPolicy policy,
            Output<?> output,
            Counter counter,
            boolean emitsReplicated) {
        this.spec = spec;
        this.policy = policy;
        this.output = output;
        this.counter = counter;
        this.emitsReplicated = emitsReplicated;
    }

    /**
     * @param chunk of a dimension that is complete
     * @param progress of the dimensions, for the message
     * @throws IllegalStateException if the policy is to fail
     */
    public void accept(Chunk chunk, String progress) {
        OutputTag<Row> tag = policy.sideOutputs().get(chunk.dimension());
        if (tag == null && policy.otherwise() == LateDimensionRows.FAIL) {
            DimensionSpec dimension = spec.dimensions().get(chunk.dimension());
            throw new IllegalStateException(
                    "Late dimension row: dimension=%s, rows=%d, %s.\nUse .lateRows(...), %s=drop or .changelog()."
                            .formatted(
                                    dimension.name(),
                                    chunk.rowCount(),
                                    progress,
                                    GpuJoinOptions.LATE_DIMENSION_ROWS.key()));
        }
        counter.inc(chunk.rowCount());
        boolean isReplicated = chunk.partition() == ChunkDescriptor.UNPARTITIONED;
        if (tag != null && (emitsReplicated || !isReplicated)) {
            ChunkRows reader = rows.computeIfAbsent(chunk.dimension(), d -> new ChunkRows(spec, d));
            for (int row = 0; row < chunk.rowCount(); row++) {
                output.collect(tag, new StreamRecord<>(reader.of(chunk, row)));
            }
        }
    }
}
