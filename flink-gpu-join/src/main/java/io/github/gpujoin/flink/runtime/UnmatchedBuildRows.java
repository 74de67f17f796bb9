// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitter;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.PartitionKeys;
import java.util.function.IntConsumer;
import org.apache.flink.api.common.state.KeyedStateStore;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * The build rows that no fact matched. A right or full join emits them after its last fact. Used by
 * the task's mailbox thread.
 */
interface UnmatchedBuildRows {

    /** Emits no such rows, and leaves chunks unnumbered. */
    UnmatchedBuildRows NONE = new UnmatchedBuildRows() {};

    /**
     * @param results emits such rows, if the join keeps them
     * @param setCurrentKey of the operator that owns the keyed state
     * @param log of the build side, read once
     */
    static <OUT> UnmatchedBuildRows of(
            ResultEmitter<OUT> results,
            KeyedStateStore store,
            PartitionKeys keys,
            IntConsumer setCurrentKey,
            BuildLog.Reader log,
            Output<StreamRecord<OUT>> output) {
        return results.unmatchedBuild()
                .<UnmatchedBuildRows>map(
                        emitter ->
                                new MarkedBuildRows<>(
                                        emitter, store, keys, setCurrentKey, log, output))
                .orElse(NONE);
    }

    /** The chunk for the log, with numbers that follow those before it. */
    default Chunk numbered(Chunk chunk) {
        return chunk;
    }

    /** Counts numbered rows of a restored log. */
    default void restored(int partition, long rows) {}

    /** Reads the state of a snapshot. */
    default void restore() throws Exception {}

    /** Writes the state for a snapshot. */
    default void snapshot() throws Exception {}

    /**
     * Records the end of the facts.
     *
     * @return whether unmatched rows are due now and were not before
     */
    default boolean endFacts() {
        return false;
    }

    /** Whether {@link #emitSome} has rows left, once the results of all facts are emitted. */
    default boolean isDue() {
        return false;
    }

    /** Emits the unmatched rows of a slice of the log. */
    default void emitSome() throws Exception {}
}
