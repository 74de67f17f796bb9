package io.github.gpujoin.rdma.transport;

/**
 * A transport between processes that share memory: the sender writes the target itself, and what it
 * has written is there.
 *
 * <pre>
 *   receiver                                   sender
 *   target = registerTarget(n)
 *            target.descriptor()  ----------&gt;  mapped = map(descriptor)
 *            reads target.address()  =======   writes mapped.address()
 * </pre>
 *
 * <p>Order is that of the memory model: who loads with acquire order what the sender stored with
 * release order sees all stores before it.
 */
public non-sealed interface SharedTransport extends Transport {

    /**
     * The peer's target. Its memory lasts until both sides have closed it, so that the sender can
     * still read what it wrote after the receiver has gone or turned to another target.
     *
     * @param descriptor what {@link Target#descriptor()} gave on the peer's side: bytes from
     *     outside, to be checked before they are used
     * @throws TransportException where the descriptor is malformed or the target is gone
     */
    RegisteredMemory map(byte[] descriptor) throws TransportException;
}
