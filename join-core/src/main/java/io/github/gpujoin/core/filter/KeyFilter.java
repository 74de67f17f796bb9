// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

/**
 * A set of 64-bit keys that contains all keys of a dimension, and perhaps a few others. Immutable
 * and thread-safe.
 */
public abstract sealed class KeyFilter implements LongCondition
        permits BitmapKeyFilter, BloomKeyFilter {

    private static final long serialVersionUID = 1L;

    private final long min;
    private final long max;

    /**
     * @param min smallest key; above {@code max} if there are no keys
     * @param max largest key
     */
    KeyFilter(long min, long max) {
        this.min = min;
        this.max = max;
    }

    /** Returns the smallest key; above {@link #max} if there are no keys. */
    public final long min() {
        return min;
    }

    /** Returns the largest key. */
    public final long max() {
        return max;
    }

    /** Returns the size of the set in bytes. */
    public abstract long lengthBytes();

    @Override
    public final String toString() {
        return getClass().getSimpleName()
                + "[min="
                + min
                + ", max="
                + max
                + ", bytes="
                + lengthBytes()
                + "]";
    }
}
