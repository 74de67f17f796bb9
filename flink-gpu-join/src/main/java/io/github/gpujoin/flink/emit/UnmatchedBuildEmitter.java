// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/** The part of an emitter that gives build rows without a match, which only their owner knows. */
public interface UnmatchedBuildEmitter<OUT> {

    /** Hears of build rows that are in a result. */
    @FunctionalInterface
    interface MatchListener {

        /**
         * @param partition of the probe row, and so of the build row
         * @param number of the build row in the partition
         */
        void matched(int partition, long number);
    }

    /** Column of build chunks in which rows have their number. */
    int numberColumn();

    /** Sets who hears of matches; to be called before any result is emitted. */
    void onMatch(MatchListener listener);

    /** Emits a build row without a match. */
    void emitUnmatched(Chunk build, int row, Output<StreamRecord<OUT>> output) throws Exception;
}
