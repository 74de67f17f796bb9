package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingException;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.transport.OneSidedTransport;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.Transport;
import io.github.gpujoin.rdma.transport.TransportException;

/**
 * Where a writer's slots stand until they are acknowledged, and how they get to the reader. It
 * outlives connections: what was not acknowledged goes to the reader's next ring.
 *
 * <p>For one thread.
 */
sealed interface Outbox extends AutoCloseable permits ImageOutbox, SharedOutbox {

    /** An outbox that is connected to its first ring. */
    static Outbox open(Transport transport, Accept accept) throws TransportException {
        Outbox outbox =
                transport instanceof SharedTransport shared
                        ? new SharedOutbox(shared, accept.ring(), accept.epoch())
                        : new ImageOutbox(
                                (OneSidedTransport) transport, accept.ring(), accept.epoch());
        try {
            outbox.connect(accept);
            return outbox;
        } catch (TransportException | RuntimeException e) {
            outbox.close();
            throw e;
        }
    }

    /** The slots, to be written once the outbox was connected. */
    RingWriter ring();

    /**
     * Takes the acknowledgement and turns to the ring of a new epoch, where what is not
     * acknowledged is sent again.
     *
     * @param accept of this outbox's geometry
     * @throws RingException where what was not sent is acknowledged
     */
    void connect(Accept accept) throws TransportException;

    /** Whether the transport reaches the reader's ring now. */
    boolean isConnected();

    /**
     * Checks that what is not acknowledged can still be sent.
     *
     * @throws TransportException if it is lost, for good
     */
    default void requireWhole() throws TransportException {}

    /** Sends what is written, as far as the transport takes it now. */
    void send() throws TransportException;

    /** The last slot that is sent: the reader acknowledges none after it. */
    long sentSequence();

    /** The last slot that the reader must find by now, were nothing lost. */
    long arrivedSequence();

    /** Sends nothing more in this epoch. */
    void disconnect();

    /** Gives up what is not acknowledged. */
    @Override
    void close();
}
