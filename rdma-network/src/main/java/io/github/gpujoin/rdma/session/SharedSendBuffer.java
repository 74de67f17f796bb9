// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.rdma.session;

import io.github.gpujoin.core.ring.RingGeometry;
import io.github.gpujoin.core.ring.RingWriter;
import io.github.gpujoin.rdma.session.ControlMessage.Accept;
import io.github.gpujoin.rdma.transport.RegisteredMemory;
import io.github.gpujoin.rdma.transport.SharedTransport;
import io.github.gpujoin.rdma.transport.TransportException;
import org.jspecify.annotations.Nullable;

/**
 * Slots in the reader's own ring: a payload is copied once, to the place where it is read, and
 * publishing a slot sends it. The ring of the last epoch stays mapped until its slots are copied to
 * the ring of the next.
 */
final class SharedSendBuffer implements SendBuffer {

    private final SharedTransport transport;
    private final RingWriter ring;
    private @Nullable RegisteredMemory mapped;

    SharedSendBuffer(SharedTransport transport, RingGeometry geometry, long epoch) {
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
                    "Target of a wrong length: targetBytes="
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
    public void requireIntact() throws TransportException {
        if (mapped != null) {
            mapped.requireIntact();
        }
    }

    /** Writing a slot has published it. */
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

    /** Needs no action: nobody reads later slots here, and the next connection copies them. */
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
