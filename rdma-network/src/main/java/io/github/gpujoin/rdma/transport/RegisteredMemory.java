package io.github.gpujoin.rdma.transport;

/** Memory that a {@link Transport} can send from or that its peer can write into. */
public interface RegisteredMemory extends AutoCloseable {

    /** Address in this process; valid until closed. */
    long address();

    long lengthBytes();

    /**
     * What a peer's {@link Transport#connect} needs to write here: where it is and by which key. It
     * is a capability and goes only to an authenticated peer. At most {@link
     * Transport#MAX_DESCRIPTOR_BYTES}; empty for a {@link Access#SOURCE}.
     */
    byte[] descriptor();

    /**
     * Revokes the key: no write of a peer lands here, or in what this memory is used for next, once
     * this returns. Then gives the memory back. Legal twice, and while connections are open; their
     * next {@link Connection#poll} may fail.
     */
    @Override
    void close();
}
