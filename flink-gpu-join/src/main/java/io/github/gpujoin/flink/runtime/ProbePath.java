// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.exchange.ring.PayloadAccess;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamElement;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Joins the elements of the facts' input in a {@link FactOrder}: of arrival ({@link ProbeSide}), or
 * of event time ({@link VersionedProbes}). Runs in the task's mailbox thread.
 */
interface ProbePath {

    /** Time for which one mail works. */
    long MAIL_MS = 10;

    /**
     * Reads the deferred rows of the restored snapshot.
     *
     * @param isLoading whether dimensions are still loaded, and facts that wait for them may expire
     */
    void restore(boolean isLoading) throws Exception;

    /** Starts {@link JoinPhase#JOIN}: all dimensions and the engine's tables are complete. */
    void startJoining() throws Exception;

    /**
     * How the payload of the next chunk is to be received. A path that keeps chunks needs copies.
     */
    default PayloadAccess payloadAccess() {
        return PayloadAccess.COPY;
    }

    /**
     * Accepts facts.
     *
     * @param chunk received with {@link #payloadAccess}; the path becomes its user
     */
    void accept(Chunk chunk) throws Exception;

    void accept(Watermark mark) throws Exception;

    void accept(WatermarkStatus status) throws Exception;

    /** Accepts a latency marker, or a watermark of another kind than event time. */
    void acceptOther(StreamElement element) throws Exception;

    /** Records the end of the input. */
    void endInput() throws Exception;

    /** Emits the results of all rows; both inputs have ended. */
    void finish() throws Exception;

    void snapshot() throws Exception;

    /** Rows that wait for their event time. */
    long deferredRowCount();
}
