package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.TransportException;

/**
 * Slots in the reader's own ring: a payload is copied once, to where it is read, and sending is
 * publishing. The ring of an epoch that has ended stays mapped, and is the image from which the
 * next one is filled.
 */
final class SharedOutbox implements Outbox {

    private final SharedTransport transport;
    private final RingWriter ring;
    private RegisteredMemory mapped;

    SharedOutbox(SharedTransport transport, RingGeometry geometry, long epoch) {
        this.transport = transport;
        this.ring = new RingWriter(null, 0, geometry, epoch);
    }

    @Override
    public RingWriter ring() {
        return ring;
    }

    @Override
    public void connect(Accept accept) throws TransportException {
        ring.acknowledge(accept.releasedSequence());
        RegisteredMemory next = transport.map(accept.descriptor().bytes());
        long ringBytes = ring.geometry().lengthBytes();
        if (next.lengthBytes() != ringBytes) {
            next.close();
            throw new TransportException(
                    "a target holds the ring that it is for: targetBytes="
                            + next.lengthBytes()
                            + ", ringBytes="
                            + ringBytes);
        }
        ring.moveTo(null, next.address(), accept.epoch());
        close();
        mapped = next;
    }

    @Override
    public boolean isConnected() {
        return mapped != null;
    }

    @Override
    public void requireWhole() throws TransportException {
        if (mapped != null) {
            mapped.requireWhole();
        }
    }

    /** What is written is published. */
    @Override
    public void send() {}

    @Override
    public long sentSequence() {
        return ring.writtenSequence();
    }

    @Override
    public long arrivedSequence() {
        return ring.writtenSequence();
    }

    /** Nobody reads what is written from now on; the next connection moves it. */
    @Override
    public void disconnect() {}

    @Override
    public void close() {
        if (mapped != null) {
            mapped.close();
            mapped = null;
        }
    }
}
