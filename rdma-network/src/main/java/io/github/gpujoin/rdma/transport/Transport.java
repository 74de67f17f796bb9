package io.github.gpujoin.rdma.transport;

/**
 * Writes of one process into the memory of another, without a call on the other side.
 *
 * <p>The receiver registers a target and sends its descriptor to the sender by other means (the
 * session's handshake). How the sender gets at the target makes two kinds of transports: where both
 * share memory it maps the target ({@link SharedTransport}), else it sends from memory of its own
 * ({@link OneSidedTransport}).
 *
 * <p>A transport knows nothing of slots, sequences, credits or epochs. It promises less than a
 * socket: what it moves may be lost, doubled or torn when it fails, and the session above it checks
 * and repeats.
 *
 * <p>Any thread may call its methods. Whatever runs in the background to accept connections belongs
 * to the transport and ends with it. Closing it closes what it gave out, in reverse order; it is
 * legal twice.
 */
public sealed interface Transport extends AutoCloseable permits OneSidedTransport, SharedTransport {

    /** Most bytes that a descriptor has, so that a handshake can hold any. */
    int MAX_DESCRIPTOR_BYTES = 256;

    /** Longest registered memory. */
    long MAX_REGISTERED_BYTES = 1L << 30;

    /** Name in options, logs and errors: {@code shm}, {@code disni}, ... */
    String name();

    /**
     * Memory of zero bytes, aligned to a page, that one peer at a time may write.
     *
     * @param lengthBytes from 1 byte to {@link #MAX_REGISTERED_BYTES}
     * @throws TransportException where there is no memory, no device or no right to lock memory;
     *     the message says what to do
     */
    Target registerTarget(long lengthBytes) throws TransportException;

    @Override
    void close();

    /**
     * @throws IllegalArgumentException where memory of this length cannot be registered
     */
    static void requireRegistrable(long lengthBytes) {
        if (lengthBytes < 1 || lengthBytes > MAX_REGISTERED_BYTES) {
            throw new IllegalArgumentException(
                    "registered memory has 1 byte to 1 GiB: lengthBytes=" + lengthBytes);
        }
    }
}
