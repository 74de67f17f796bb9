// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

import org.jspecify.annotations.Nullable;

/**
 * A payload that is read in its slot. Only one thread at a time may use it and the reader of its
 * ring.
 */
public final class TakenPayload {

    private final @Nullable Object base;
    private final long offset;
    private final int lengthBytes;
    private final long sequence;
    private final long epoch;
    private final long checksum;
    private final ReadWindow window;

    /**
     * @param base byte array, or null for native memory, as in {@code Memory}
     * @param checksum of the slot, as its writer published it
     */
    TakenPayload(
            @Nullable Object base,
            long offset,
            int lengthBytes,
            long sequence,
            long epoch,
            long checksum,
            ReadWindow window) {
        this.base = base;
        this.offset = offset;
        this.lengthBytes = lengthBytes;
        this.sequence = sequence;
        this.epoch = epoch;
        this.checksum = checksum;
        this.window = window;
    }

    /** Returns the address of the payload in native memory, or its offset in the ring's array. */
    public long address() {
        return offset;
    }

    public int lengthBytes() {
        return lengthBytes;
    }

    public long sequence() {
        return sequence;
    }

    /** Returns whether the slot contains the payload that its writer published. Reads all of it. */
    public boolean isIntact() {
        return SlotChecksum.of(sequence, epoch, base, offset, lengthBytes) == checksum;
    }

    /**
     * Releases the slot, which its writer may then fill again.
     *
     * @throws IllegalStateException if it was released before
     */
    public void release() {
        window.release(sequence);
    }
}
