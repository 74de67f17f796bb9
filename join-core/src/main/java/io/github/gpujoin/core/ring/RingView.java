// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.ring;

/**
 * How a reader on the host reads its ring: a ring in host memory in place, a ring in device memory
 * by copies of its parts.
 */
@FunctionalInterface
public interface RingView {

    /**
     * Makes bytes of the ring readable, in their current state. Also makes all writes readable that
     * precede any write that an earlier call showed. A reader that acquires a slot's sequence and
     * then calls this method for the slot therefore sees everything written before the sequence.
     *
     * @param offsetBytes from the first byte of the ring, a multiple of 64
     * @param lengthBytes up to {@link RingGeometry#slotBytes}
     * @return address of the bytes, valid until the next call
     */
    long at(long offsetBytes, int lengthBytes);

    /**
     * Returns a view of a ring in host memory.
     *
     * @param offset of the ring's first byte: an address, or an offset in the array that the reader
     *     uses
     */
    static RingView inPlace(long offset) {
        return (offsetBytes, lengthBytes) -> offset + offsetBytes;
    }
}
