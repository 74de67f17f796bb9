// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import static io.github.gpujoin.core.ring.SlotDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.PAYLOAD_OFFSET;
import static io.github.gpujoin.core.ring.SlotDescriptor.SEQUENCE_OFFSET;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.transport.Connection;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Slots in a copy of the reader's ring, in registered memory of this process. They are sent in
 * rounds: first everything but the sequences of all written slots, then, after one flush, their
 * sequences. So a transport that must wait for a flush waits only once for each round.
 *
 * <pre>
 *   arrived &lt;= sent &lt;= flushed &lt;= body &lt;= written
 *              |  round in flight  |
 * </pre>
 *
 * <p>A loaded network may delay in-flight writes for seconds. Slots therefore count as arrived only
 * when no write is in flight. That happens eventually: while the reader releases nothing, the ring
 * has no room for more writes.
 */
final class CopiedSendBuffer implements SendBuffer {

    private final OneSidedTransport transport;
    private final RegisteredMemory image;
    private final RingWriter ring;
    private @Nullable Connection connection;
    private long bodySequence;
    private long flushedSequence;
    private long sentSequence;
    private long arrivedSequence;

    /** Last slot sent in any epoch: a reader may release it before it is sent in this one. */
    private long everSentSequence;

    CopiedSendBuffer(OneSidedTransport transport, RingGeometry geometry, long epoch)
            throws TransportException {
        this.transport = transport;
        this.image = transport.registerSource(geometry.lengthBytes());
        this.ring = new RingWriter(null, image.address(), geometry, epoch);
    }

    @Override
    public RingWriter ring() {
        return ring;
    }

    @Override
    public void connect(Accept accept) throws TransportException {
        ring.acknowledge(accept.releasedSequence());
        ring.moveToEpoch(accept.epoch());
        connection = transport.connect(accept.descriptor().bytes(), image);
        arrivedSequence = ring.acknowledgedSequence();
        sentSequence = arrivedSequence;
        flushedSequence = sentSequence;
        bodySequence = sentSequence;
    }

    @Override
    public boolean isConnected() {
        return connection != null && connection.isConnected();
    }

    @Override
    public void send() throws TransportException {
        connection.poll();
        skipAcknowledged();
        if (connection.isIdle()) {
            arrivedSequence = sentSequence;
        }
        while (sentSequence < ring.writtenSequence()) {
            if (sentSequence == flushedSequence) {
                if (!sendBodies()) {
                    return;
                }
                connection.flush();
                flushedSequence = bodySequence;
            }
            if (!sendSequences()) {
                return;
            }
        }
    }

    /** The reader needs no slot again that it has released since the connection. */
    private void skipAcknowledged() {
        sentSequence = Math.max(sentSequence, ring.acknowledgedSequence());
        flushedSequence = Math.max(flushedSequence, sentSequence);
        bodySequence = Math.max(bodySequence, flushedSequence);
    }

    /**
     * Sends the bodies of written slots.
     *
     * @return false if the transport's limit was reached before the last one
     */
    private boolean sendBodies() throws TransportException {
        while (bodySequence < ring.writtenSequence()) {
            long next = bodySequence + 1;
            long body = ring.geometry().slotOffset(next) + EPOCH_OFFSET;
            int lengthBytes = PAYLOAD_OFFSET - EPOCH_OFFSET + ring.lengthBytes(next);
            if (!connection.write(body, body, lengthBytes)) {
                return false;
            }
            bodySequence = next;
        }
        return true;
    }

    /**
     * Sends the sequences of flushed slots.
     *
     * @return false if the transport's limit was reached before the last one
     */
    private boolean sendSequences() throws TransportException {
        while (sentSequence < flushedSequence) {
            long flag = ring.geometry().slotOffset(sentSequence + 1) + SEQUENCE_OFFSET;
            if (!connection.write(flag, flag, Long.BYTES)) {
                return false;
            }
            sentSequence++;
            everSentSequence = Math.max(everSentSequence, sentSequence);
        }
        return true;
    }

    @Override
    public long sentSequence() {
        return everSentSequence;
    }

    @Override
    public long arrivedSequence() {
        return arrivedSequence;
    }

    @Override
    public void disconnect() {
        if (connection != null) {
            connection.close();
            connection = null;
        }
    }

    @Override
    public void close() {
        disconnect();
        image.close();
    }
}
