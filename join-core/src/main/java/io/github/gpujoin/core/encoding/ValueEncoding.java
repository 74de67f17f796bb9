// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import org.jspecify.annotations.Nullable;

/** How the values of an encoded column, or the values of its runs, are stored. */
public enum ValueEncoding {
    /** Values as they are, of the column's width. */
    PLAIN,
    /** Frame of reference: {@code base + code}, with codes of equal bit width. */
    BIT_PACKED,
    /** Codes that index the distinct values of the chunk. */
    DICTIONARY,
    /**
     * {@code previous value + base + code}. The first value of a tile stands apart, so that every
     * tile decodes alone.
     */
    DELTA;

    private static final ValueEncoding[] VALUES = values();

    /**
     * Returns the encoding of an ordinal that was read from a chunk.
     *
     * @return null if there is no such encoding
     */
    static @Nullable ValueEncoding ofOrdinal(int ordinal) {
        return ordinal < 0 || ordinal >= VALUES.length ? null : VALUES[ordinal];
    }
}
