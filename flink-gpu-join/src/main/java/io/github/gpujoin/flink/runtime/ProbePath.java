// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Joins what arrives on the input of facts: in the order of arrival ({@link ProbeSide}), or in the
 * order of event time ({@link VersionedProbes}). Runs in the task's mailbox thread.
 */
interface ProbePath {

    /**
     * Reads the deferred rows of the restored snapshot.
     *
     * @param loads whether rows wait for dimensions that are still loaded, and may expire
     */
    void restore(boolean loads) throws Exception;

    /** Starts {@link JoinPhase#JOIN}: all dimensions are complete, and the engine's tables. */
    void startJoining() throws Exception;

    void accept(Chunk chunk) throws Exception;

    void accept(Watermark mark) throws Exception;

    void accept(WatermarkStatus status) throws Exception;

    /** Accepts a latency marker, or a watermark of another kind than event time. */
    void acceptOther(StreamElement element) throws Exception;

    /** The input has ended. */
    void endInput() throws Exception;

    /** Emits the results of all rows; both inputs have ended. */
    void finish() throws Exception;

    void snapshot() throws Exception;

    /** Rows that wait for their event time. */
    long deferredRowCount();
}
