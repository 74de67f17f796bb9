package io.github.gpujoin.rdma.verbs;

import java.io.IOException;

/**
 * A reliable connection: writes reach the peer's memory in the order in which they were posted, and
 * complete in that order. For one thread.
 *
 * <p>A failure is terminal. What was posted and not completed may or may not have arrived.
 */
public interface QueuePair extends AutoCloseable {

    QueuePairState state();

    /** Writes that may be posted now. */
    int freeWrites();

    /**
     * Posts a write. Its source must stay as it is until {@link #completedWrites} counts it.
     *
     * @param lengthBytes at least 1
     * @return the number of this write: the first is 1
     * @throws IllegalStateException without a free write
     * @throws VerbsException {@link VerbsFailure#CONNECTION_LOST}
     */
    long write(long localAddress, int localKey, long remoteAddress, int remoteKey, int lengthBytes)
            throws IOException;

    /**
     * Takes note of finished writes, without waiting.
     *
     * @return how many writes are complete since the connection began: all up to this number
     * @throws VerbsException {@link VerbsFailure#REFUSED_ACCESS} or {@link
     *     VerbsFailure#CONNECTION_LOST}; the queue pair then is {@link QueuePairState#FAILED}
     */
    long completedWrites() throws IOException;

    /**
     * Asks the connection manager whether the peer left. Costs a system call, so not for every
     * write: it sees the death of an idle peer, which posted writes would only notice by their
     * retries.
     *
     * @throws VerbsException {@link VerbsFailure#CONNECTION_LOST}
     */
    void checkPeer() throws IOException;

    @Override
    void close() throws IOException;
}
