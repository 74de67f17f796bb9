// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.GroupRows;
import io.github.gpujoin.core.engine.ResultBatch;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Turns results into records, which are new objects each. Serves one thread and one engine at a
 * time, and lives no longer than the last: text is remembered by its address in the engine's
 * memory, until a batch of another engine comes.
 */
public interface ResultEmitter<OUT> extends AutoCloseable {

    int SLICE_ROWS = 1024;

    /**
     * Emits rows of a batch, or keeps them until {@link #flush}.
     *
     * @param toRow the row after the last
     * @throws IndexOutOfBoundsException where the batch has no such rows
     */
    void emit(ResultBatch batch, int fromRow, int toRow, Output<StreamRecord<OUT>> output)
            throws Exception;

    /** Rows to emit at once, at least; between them others get their turn, as barriers do. */
    default int sliceRows() {
        return SLICE_ROWS;
    }

    /** Says that no more results come of rows of the current chunk before {@code completedRows}. */
    default void completed(int completedRows, Output<StreamRecord<OUT>> output) throws Exception {}

    /** Gives build rows without a match; empty where those are in no result. */
    default Optional<UnmatchedBuildEmitter<OUT>> unmatchedBuild() {
        return Optional.empty();
    }

    /** Emits groups of an aggregating join, which gives no rows. */
    default void emit(GroupRows groups, Output<StreamRecord<OUT>> output) throws Exception {
        throw new UnsupportedOperationException(
                "Emitter of rows received groups: emitter=" + getClass());
    }

    /** Emits what earlier calls kept. */
    default void flush(Output<StreamRecord<OUT>> output) throws Exception {}

    /** Closes a user's function; nothing that was kept is emitted. */
    @Override
    default void close() throws Exception {}
}
