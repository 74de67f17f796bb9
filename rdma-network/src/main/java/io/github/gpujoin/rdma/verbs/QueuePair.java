// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/**
 * A reliable connection. Writes reach the peer's memory in posting order and complete in that
 * order. For one thread.
 *
 * <p>A failure is terminal. Posted writes that have not completed may or may not have arrived.
 */
public interface QueuePair extends AutoCloseable {

    QueuePairState state();

    /** Number of writes that may be posted now. */
    int freeWriteCount();

    /**
     * Posts a write. Its source must not change until {@link #completedWriteCount} includes it.
     *
     * @param lengthBytes at least 1
     * @return the number of this write; the first is 1
     * @throws IllegalStateException if the queue is full
     * @throws VerbsException {@link VerbsFailure#CONNECTION_LOST}
     */
    long write(long localAddress, int localKey, long remoteAddress, int remoteKey, int lengthBytes)
            throws IOException;

    /**
     * Processes completed writes. Never blocks.
     *
     * @return number of completed writes since the connection was opened
     * @throws VerbsException {@link VerbsFailure#REFUSED_ACCESS} or {@link
     *     VerbsFailure#CONNECTION_LOST}; the state then is {@link QueuePairState#FAILED}
     */
    long completedWriteCount() throws IOException;

    /**
     * Asks the connection manager whether the peer left. Costs a system call, so do not call it for
     * each write. It detects the death of an idle peer, and does so before posted writes exhaust
     * their retries.
     *
     * @throws VerbsException {@link VerbsFailure#CONNECTION_LOST}
     */
    void checkPeer() throws IOException;

    @Override
    void close() throws IOException;
}
