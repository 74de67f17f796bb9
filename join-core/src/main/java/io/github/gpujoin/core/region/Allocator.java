package io.github.gpujoin.core.region;

/** Gives off-heap memory within a limit. Thread-safe. */
public interface Allocator {

    /**
     * Memory of unspecified content.
     *
     * @throws MemoryRefusedException over the limit, or where the operating system gives none
     */
    Region allocate(long lengthBytes);

    /** Bytes that may still be taken; others may take them first. */
    long availableBytes();

    /** Memory filled with zero bytes. */
    default Region allocateZeroed(long lengthBytes) {
        Region region = allocate(lengthBytes);
        Memory.fill(null, region.address(), lengthBytes, (byte) 0);
        return region;
    }

    /** Gives what the operating system gives. */
    static Allocator unlimited() {
        return new MemoryAccount("host").within(Long.MAX_VALUE);
    }
}
