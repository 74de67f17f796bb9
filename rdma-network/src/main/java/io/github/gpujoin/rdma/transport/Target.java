package io.github.gpujoin.rdma.transport;

import io.github.gpujoin.core.ring.RingView;

/** Memory that a peer writes and this process reads. */
public interface Target extends RegisteredMemory {

    /** How this process sees what was written: in place, but where the memory is a device's. */
    default RingView view() {
        return RingView.inPlace(address());
    }

    /**
     * What the peer needs to write here: where it is and by which key. It is a capability and goes
     * only to an authenticated peer. At most {@link Transport#MAX_DESCRIPTOR_BYTES}.
     */
    byte[] descriptor();

    /**
     * Revokes the key: no write of a peer lands in what this memory is used for next, once this
     * returns. Then gives the memory back. Legal twice, and while connections are open; their next
     * {@link Connection#poll} may fail.
     */
    @Override
    void close();
}
