package io.github.gpujoin.rdma.transport;

/** Memory that a {@link Transport} gave out. */
public interface RegisteredMemory extends AutoCloseable {

    /** Address in this process, or of a device; valid until closed. */
    long address();

    long lengthBytes();

    /**
     * Checks that there still is memory behind the addresses, before they are used.
     *
     * @throws TransportException if another process took it away
     */
    default void requireWhole() throws TransportException {}

    /** Gives the memory back. Legal twice. */
    @Override
    void close();
}
