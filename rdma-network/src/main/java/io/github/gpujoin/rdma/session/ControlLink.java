// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import java.io.IOException;
import org.jspecify.annotations.Nullable;

/**
 * Control connection between a writer and a reader: ordered and lossless until it breaks.
 *
 * <p>{@link #send} and {@link #receive} are for one thread at a time; any thread may close it.
 */
public interface ControlLink extends AutoCloseable {

    /**
     * Sends or queues a message. Never blocks.
     *
     * @throws IOException if the link is broken
     */
    void send(ControlMessage message) throws IOException;

    /**
     * Receives the next message. Never blocks.
     *
     * @return the message, or null if none has arrived
     * @throws IOException if the peer closed the link, the link broke, or a message is malformed;
     *     earlier messages are received first
     */
    @Nullable ControlMessage receive() throws IOException;

    /**
     * Removes the limit of two messages that applies to an accepted link until its writer has
     * authenticated.
     */
    default void admit() {}

    /** Describes the remote end, for messages. */
    String peer();

    @Override
    void close();

    /** Opens control connections to a reader. */
    @FunctionalInterface
    interface Dialer {

        /** Starts to connect. Never blocks: {@link ControlLink#receive} reports a failure. */
        ControlLink dial() throws IOException;
    }
}
