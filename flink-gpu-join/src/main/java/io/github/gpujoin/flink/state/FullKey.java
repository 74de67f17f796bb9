// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.util.Arrays;

/** A key on the heap: an integer, and the key bytes if the integer is a hash. Immutable. */
public final class FullKey {

    private static final byte[] EXACT = {};

    private final long integer;

    /** Empty if equal integers are equal keys. */
    private final byte[] bytes;

    private FullKey(long integer, byte[] bytes) {
        this.integer = integer;
        this.bytes = bytes;
    }

    /** Returns the key of which the integer is all. */
    public static FullKey exact(long integer) {
        return new FullKey(integer, EXACT);
    }

    /**
     * Returns a key of which the integer is a hash.
     *
     * @param bytes not to be changed afterwards
     */
    public static FullKey hashed(long hash, byte[] bytes) {
        return new FullKey(hash, bytes);
    }

    public long integer() {
        return integer;
    }

    /** Returns the array that the key holds, empty for an exact key; not to be changed. */
    public byte[] bytes() {
        return bytes;
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof FullKey key
                && key.integer == integer
                && Arrays.equals(key.bytes, bytes);
    }

    @Override
    public int hashCode() {
        return Long.hashCode(integer);
    }
}
