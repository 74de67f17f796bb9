// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

/** Allocates off-heap memory within a limit. Thread-safe. */
public interface Allocator {

    /**
     * Returns memory of unspecified content.
     *
     * @throws MemoryRefusedException if the limit is exceeded or the operating system has no memory
     */
    Region allocate(long lengthBytes);

    /** Returns the bytes that may still be allocated. Other threads may allocate them first. */
    long availableBytes();

    /** Returns the limit in bytes; {@link Long#MAX_VALUE} if it is not known. */
    default long limitBytes() {
        return Long.MAX_VALUE;
    }

    /** Returns memory filled with zeros. */
    default Region allocateZeroed(long lengthBytes) {
        Region region = allocate(lengthBytes);
        Memory.fill(null, region.address(), lengthBytes, (byte) 0);
        return region;
    }

    /** Returns an allocator whose only limit is the operating system. */
    static Allocator unlimited() {
        return new MemoryAccount("host").within(Long.MAX_VALUE);
    }
}
