// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** Emits build rows without a match. Only the subtask that owns a row knows that it has none. */
public interface UnmatchedBuildEmitter<OUT> {

    /** Receives the build rows of each result. */
    @FunctionalInterface
    interface MatchListener {

        /**
         * @param partition of the probe row, and so of the build row
         * @param number of the build row in the partition
         */
        void matched(int partition, long number);
    }

    /** Returns the column of row numbers in build chunks. */
    int numberColumn();

    /** Sets the listener. To be called before the first result is emitted. */
    void onMatch(MatchListener listener);

    /** Emits a build row without a match. */
    void emitUnmatched(Chunk build, int row, Output<StreamRecord<OUT>> output) throws Exception;
}
