// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingException;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;

/**
 * A writer's slots until the reader acknowledges them, and how they are sent. It outlives
 * connections: slots without acknowledgement are sent again to the reader's next ring.
 *
 * <p>For one thread.
 */
sealed interface SendBuffer extends AutoCloseable permits CopiedSendBuffer, SharedSendBuffer {

    /** Creates the buffer that suits the transport, connected to its first ring. */
    static SendBuffer open(Transport transport, Accept accept) throws TransportException {
        SendBuffer buffer =
                transport instanceof SharedTransport shared
                        ? new SharedSendBuffer(shared, accept.ring(), accept.epoch())
                        : new CopiedSendBuffer(
                                (OneSidedTransport) transport, accept.ring(), accept.epoch());
        try {
            buffer.connect(accept);
            return buffer;
        } catch (TransportException | RuntimeException e) {
            buffer.close();
            throw e;
        }
    }

    /** The slots. The caller writes them after the first connection. */
    RingWriter ring();

    /**
     * Applies the reader's acknowledgement and connects to the ring of a new epoch, to which slots
     * without acknowledgement are sent again.
     *
     * @param accept of the same ring geometry
     * @throws RingException if the reader acknowledges a slot that was not sent
     */
    void connect(Accept accept) throws TransportException;

    /** Whether the transport currently reaches the reader's ring. */
    boolean isConnected();

    /**
     * Checks that slots without acknowledgement can still be sent.
     *
     * @throws TransportException if they are lost permanently
     */
    default void requireIntact() throws TransportException {}

    /** Sends written slots, as many as the transport accepts now. */
    void send() throws TransportException;

    /** Sequence of the last sent slot; the reader cannot acknowledge a later one. */
    long sentSequence();

    /** Sequence of the last slot that the reader must find by now, unless it was lost. */
    long arrivedSequence();

    /** Sends nothing more in this epoch. */
    void disconnect();

    /** Discards slots without acknowledgement. */
    @Override
    void close();
}
