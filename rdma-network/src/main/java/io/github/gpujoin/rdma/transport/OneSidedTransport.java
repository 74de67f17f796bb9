package io.github.gpujoin.rdma.transport;

/**
 * A transport that copies from registered memory of the sender into the target:
 *
 * <pre>
 *   receiver                                   sender
 *   target = registerTarget(n)                 source = registerSource(m)
 *            target.descriptor()  ----------&gt;  connection = connect(descriptor, source)
 *            reads target.address()  &lt;=======  connection.write(...), flush(), write(...), poll()
 * </pre>
 *
 * <p>What it must keep is said at {@link Connection}.
 */
public non-sealed interface OneSidedTransport extends Transport {

    /**
     * Memory of zero bytes, aligned to a cache line, registered once for all that is sent from it.
     *
     * @param lengthBytes from 1 byte to {@link #MAX_REGISTERED_BYTES}
     * @throws TransportException as {@link #registerTarget}
     */
    RegisteredMemory registerSource(long lengthBytes) throws TransportException;

    /**
     * A way to write into a peer's target.
     *
     * <p>Comes back at once, for the caller's thread may drive many sessions. {@link
     * Connection#write} starts nothing until the peer's side is there, and {@link Connection#poll}
     * throws where it does not come.
     *
     * @param descriptor what {@link Target#descriptor()} gave on the peer's side: bytes from
     *     outside, to be checked before they are used
     * @param source of this transport; not closed by the connection
     * @throws TransportException where the descriptor is malformed
     */
    Connection connect(byte[] descriptor, RegisteredMemory source) throws TransportException;
}
