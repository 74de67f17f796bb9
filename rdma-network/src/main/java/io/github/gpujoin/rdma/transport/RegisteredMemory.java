package io.github.gpujoin.rdma.transport;

/** Memory that a {@link Transport} gave out. */
public interface RegisteredMemory extends AutoCloseable {

    /** Address in this process, or of a device; valid until closed. */
    long address();

    long lengthBytes();

    /** Gives the memory back. Legal twice. */
    @Override
    void close();
}
