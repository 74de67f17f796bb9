// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.layout.KeyHash;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Caches longer texts of a dimension's column than {@link ShortTextCache} does, by the address of
 * its row's variable-width bytes, so that repeated rows share one String. Direct-mapped, of fixed
 * size. Longer texts than {@value #MAX_LENGTH} chars are not cached, so a cache holds at most 2 MiB
 * of chars.
 */
final class TextCache {

    static final int ENTRIES = 4096;

    /** Longest cached text. The cost of a longer one is its bytes, not its allocation. */
    static final int MAX_LENGTH = 256;

    private final long[] addresses = new long[ENTRIES];
    private final String[] texts = new String[ENTRIES];

    /** Returns the entry for the address. */
    int slot(long address) {
        return KeyHash.slot(KeyHash.hash(address), ENTRIES);
    }

    boolean holds(int slot, long address) {
        return addresses[slot] == address;
    }

    /** Returns the text of the entry, or null if the column is null. */
    @Nullable String text(int slot) {
        return texts[slot];
    }

    /** Replaces the entry, unless the text is too long; null stands for a null column. */
    @Nullable String put(int slot, long address, @Nullable String text) {
        if (text == null || text.length() <= MAX_LENGTH) {
            addresses[slot] = address;
            texts[slot] = text;
        }
        return text;
    }

    void clear() {
        // 0 is not the address of any row
        Arrays.fill(addresses, 0);
        Arrays.fill(texts, null);
    }
}
