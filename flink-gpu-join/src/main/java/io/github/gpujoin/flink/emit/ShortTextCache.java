// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.core.region.Memory;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Caches short texts by their bytes, so that rows with equal texts share one String, whichever rows
 * they are. Direct-mapped, of fixed size. An entry holds a text's bytes as four words, so that a
 * lookup compares words and reads no String. Not thread-safe.
 */
final class ShortTextCache {

    /** Longest cached text in bytes of UTF-8. */
    static final int MAX_BYTES = 4 * Long.BYTES;

    static final int ENTRIES = 1024;

    private final long[] words = new long[4 * ENTRIES];

    /** Length of each entry in bytes; -1 if it is empty. */
    private final int[] lengths = new int[ENTRIES];

    private final String[] texts = new String[ENTRIES];
    private final byte[] scratch = new byte[MAX_BYTES];

    ShortTextCache() {
        Arrays.fill(lengths, -1);
    }

    /**
     * Returns the text of some bytes of UTF-8.
     *
     * @param base array, or null for native memory, as in {@link Memory}
     * @param length at most {@link #MAX_BYTES}
     */
    String text(byte @Nullable [] base, long at, int length) {
        long first;
        long second = 0;
        long third = 0;
        long last = 0;
        // Words of texts that are no multiple of 8 bytes overlap: with the length they are unique.
        if (length < Long.BYTES) {
            first = shortWord(base, at, length);
        } else {
            first = Memory.getLong(base, at);
            last = Memory.getLong(base, at + length - Long.BYTES);
            if (length > 2 * Long.BYTES) {
                second = Memory.getLong(base, at + Long.BYTES);
                third = Memory.getLong(base, at + length - 2 * Long.BYTES);
            }
        }
        long mixed = first + 31 * (last + 31 * (second + 31 * (third + length)));
        int slot = KeyHash.slot(KeyHash.hash(mixed), ENTRIES);
        int word = 4 * slot;
        if (lengths[slot] == length
                && words[word] == first
                && words[word + 1] == last
                && words[word + 2] == second
                && words[word + 3] == third) {
            return texts[slot];
        }
        Memory.copy(base, at, scratch, Memory.BYTES, length);
        String text = new String(scratch, 0, length, StandardCharsets.UTF_8);
        lengths[slot] = length;
        words[word] = first;
        words[word + 1] = last;
        words[word + 2] = second;
        words[word + 3] = third;
        texts[slot] = text;
        return text;
    }

    private static long shortWord(byte @Nullable [] base, long at, int length) {
        if (length >= Integer.BYTES) {
            long low = Memory.getInt(base, at) & 0xFFFFFFFFL;
            return low | (long) Memory.getInt(base, at + length - Integer.BYTES) << Integer.SIZE;
        }
        long word = 0;
        for (int i = 0; i < length; i++) {
            word = word << Byte.SIZE | Memory.getByte(base, at + i) & 0xFF;
        }
        return word;
    }
}
