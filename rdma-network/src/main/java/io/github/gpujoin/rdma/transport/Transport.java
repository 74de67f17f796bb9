package io.github.gpujoin.rdma.transport;

/**
 * Writes of one process into the memory of another, without a call on the other side.
 *
 * <p>The receiver registers a target and sends its descriptor to the sender by other means (the
 * session's handshake). The sender registers a source, connects to the descriptor, and writes:
 *
 * <pre>
 *   receiver                                   sender
 *   target = register(n, TARGET)               source = register(m, SOURCE)
 *            target.descriptor()  ----------&gt;  connection = connect(descriptor, source)
 *            reads target.address()  &lt;=======  connection.write(...), flush(), write(...), poll()
 * </pre>
 *
 * <p>A transport knows nothing of slots, sequences, credits or epochs. It promises less than a
 * socket: what it moves may be lost, doubled or torn when it fails, and the session above it checks
 * and repeats. What it must keep is said at {@link Connection}.
 *
 * <p>{@link #register} and {@link #connect} may be called by any thread. Whatever runs in the
 * background to accept connections belongs to the transport and ends with it. Closing it closes
 * what it gave out, in reverse order; it is legal twice.
 */
public interface Transport extends AutoCloseable {

    /** Most bytes that a descriptor has, so that a handshake can hold any. */
    int MAX_DESCRIPTOR_BYTES = 256;

    /** Name in options, logs and errors: {@code shm}, {@code disni}, ... */
    String name();

    /**
     * Memory of zero bytes, aligned to a page, registered once for all that is written.
     *
     * @param lengthBytes from 1 byte to 1 GiB
     * @throws TransportException where there is no memory, no device or no right to lock memory;
     *     the message says what to do
     */
    RegisteredMemory register(long lengthBytes, Access access) throws TransportException;

    /**
     * A way to write into a peer's target.
     *
     * <p>May block, for seconds at most, until the peer's side is there.
     *
     * @param descriptor what {@link RegisteredMemory#descriptor()} gave on the peer's side: bytes
     *     from outside, to be checked before they are used
     * @param source memory of this transport, registered as {@link Access#SOURCE}; not closed by
     *     the connection
     * @throws TransportException where the descriptor is malformed, the target is gone, or there is
     *     no route
     */
    Connection connect(byte[] descriptor, RegisteredMemory source) throws TransportException;

    @Override
    void close();
}
