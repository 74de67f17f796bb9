// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.transport;

/**
 * Writes from one source into one target. For one thread at a time.
 *
 * <p>Every one-sided transport guarantees:
 *
 * <ul>
 *   <li>An aligned write of 8 bytes is atomic: the reader sees either the old or the new word.
 *   <li>The bytes of one longer write may become visible in any order.
 *   <li>All writes before a {@link #flush} are visible to a reader that loads bytes written after
 *       the flush with acquire order.
 *   <li>No write changes memory outside the target, whatever offsets the caller passes.
 * </ul>
 *
 * <p>An error is terminal. After the first {@link TransportException}, {@link #write}, {@link
 * #flush} and {@link #poll} throw one each time; the caller closes the connection and opens another
 * to a new target (a new epoch). In-flight writes may or may not have arrived.
 */
public interface Connection extends AutoCloseable {

    /**
     * Starts to copy bytes from the source to the target. The source bytes must not change until
     * the peer has acknowledged that it read them.
     *
     * @param lengthBytes at least 1
     * @return false if the transport's limit of in-flight writes is reached, a flush is pending, or
     *     the peer has not accepted the connection. Nothing was started then; the caller polls and
     *     retries
     * @throws TransportException if the connection is broken
     * @throws IllegalArgumentException if an extent is outside the source or the target
     */
    boolean write(long sourceOffsetBytes, long targetOffsetBytes, int lengthBytes)
            throws TransportException;

    /** Whether the peer has accepted the connection. Until then {@link #write} returns false. */
    boolean isConnected();

    /**
     * Orders all earlier writes before all later ones. Never blocks: a transport that does not
     * preserve order by itself makes {@link #write} return false until all earlier writes arrived.
     */
    void flush() throws TransportException;

    /**
     * Processes completed writes, which makes room for more, and failures. Never blocks.
     *
     * @throws TransportException if the connection is broken
     */
    void poll() throws TransportException;

    /**
     * Whether the last {@link #poll} found neither an in-flight write nor a pending flush: all
     * writes before the last flush have arrived, and no later write is queued at this end.
     */
    boolean isIdle();

    /** Abandons in-flight writes. Legal in any state; idempotent. */
    @Override
    void close();

    /**
     * Checks that an extent lies within a memory.
     *
     * @param memory its name, for the message
     * @throws IllegalArgumentException if the extent is empty or outside the memory
     */
    static void requireExtent(
            String memory, long offsetBytes, int lengthBytes, long memoryLengthBytes) {
        if (offsetBytes < 0 || lengthBytes < 1 || offsetBytes > memoryLengthBytes - lengthBytes) {
            throw new IllegalArgumentException(
                    "Write outside of the registered memory: "
                            + memory
                            + "="
                            + memoryLengthBytes
                            + " bytes, offsetBytes="
                            + offsetBytes
                            + ", lengthBytes="
                            + lengthBytes);
        }
    }
}
