package io.github.gpujoin.core.ring;

/** Memory of a device for one ring, which its host sees by copies. For one thread at a time. */
public interface DeviceRing extends RingView, AutoCloseable {

    /** Device pointer of the first byte; nothing on the CPU may load from it or store to it. */
    long address();

    long lengthBytes();

    /** Gives the memory back, which nobody writes any more. Legal twice. */
    @Override
    void close();
}
