// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;

/**
 * Collects the keys of a dimension. Keys go to pages of a sparse bitmap; if these exceed the limit,
 * to a Bloom filter of the limit. Not thread-safe.
 */
public final class KeyFilterBuilder {

    /** 4096 bits. */
    private static final int PAGE_WORDS = 64;

    private static final int PAGE_SHIFT = 12;

    /** A filter that more keys share than this passes too many others. */
    private static final int MIN_BITS_PER_KEY = 4;

    private final int maxWords;
    private Map<Long, long[]> pages = new HashMap<>();
    private long lastPage;
    private long[] lastWords = new long[0];

    /** Of the Bloom filter; empty as long as there are pages. */
    private long[] bloom = new long[0];

    private long keyCount;
    private long min = Long.MAX_VALUE;
    private long max = Long.MIN_VALUE;

    /**
     * @param maxBytes limit of the filter's size, at least 1024; the next lower power of 2 applies
     *     to Bloom filters
     */
    public KeyFilterBuilder(int maxBytes) {
        if (maxBytes < Long.BYTES * 2 * PAGE_WORDS) {
            throw new IllegalArgumentException("Filter is too small: maxBytes=" + maxBytes);
        }
        this.maxWords = Integer.highestOneBit(maxBytes) / Long.BYTES;
    }

    /** Adds a key. */
    public void add(long key) {
        keyCount++;
        min = Math.min(min, key);
        max = Math.max(max, key);
        if (bloom.length > 0) {
            BloomKeyFilter.add(bloom, key);
            return;
        }
        long page = key >> PAGE_SHIFT;
        if (page != lastPage || lastWords.length == 0) {
            lastPage = page;
            lastWords = pages.computeIfAbsent(page, p -> new long[PAGE_WORDS]);
        }
        lastWords[(int) (key >>> 6) & PAGE_WORDS - 1] |= 1L << key;
        if (pages.size() * PAGE_WORDS > maxWords) {
            bloom = bloomOfPages(maxWords);
            pages = new HashMap<>();
            lastWords = new long[0];
        }
    }

    /** Returns a Bloom filter of the keys in pages. */
    private long[] bloomOfPages(int wordCount) {
        long[] words = new long[wordCount];
        forEachInPages(key -> BloomKeyFilter.add(words, key));
        return words;
    }

    private void forEachInPages(LongConsumer action) {
        pages.forEach(
                (page, words) -> {
                    for (int i = 0; i < PAGE_WORDS; i++) {
                        for (long left = words[i]; left != 0; left &= left - 1) {
                            long bit = 64L * i + Long.numberOfTrailingZeros(left);
                            action.accept((page << PAGE_SHIFT) + bit);
                        }
                    }
                });
    }

    /**
     * Builds the filter of all added keys. The builder is of no use afterwards.
     *
     * @return the filter, or nothing if there are too many keys for the limit
     */
    public Optional<KeyFilter> build() {
        if (min > max) {
            return Optional.of(new BitmapKeyFilter(min, max, new long[0]));
        }
        if (bloom.length > 0) {
            return keyCount * MIN_BITS_PER_KEY > (long) Long.SIZE * bloom.length
                    ? Optional.empty()
                    : Optional.of(new BloomKeyFilter(min, max, fitted(bloom)));
        }
        long wordCount = (max >> 6) - (min >> 6) + 1;
        if (wordCount > 0 && wordCount <= maxWords) {
            return Optional.of(new BitmapKeyFilter(min, max, bitmap((int) wordCount)));
        }
        return Optional.of(new BloomKeyFilter(min, max, fitted(bloomOfPages(maxWords))));
    }

    private long[] bitmap(int wordCount) {
        long[] all = new long[wordCount];
        long firstWord = min >> 6;
        pages.forEach(
                (page, words) -> {
                    for (int i = 0; i < PAGE_WORDS; i++) {
                        if (words[i] != 0) {
                            all[(int) ((page << PAGE_SHIFT - 6) + i - firstWord)] = words[i];
                        }
                    }
                });
        return all;
    }

    /** Halves a Bloom filter while it has more than enough bits for each key. */
    private long[] fitted(long[] words) {
        long[] fitted = words;
        while (fitted.length > 2
                && keyCount * 2 * BloomKeyFilter.BITS_PER_KEY <= (long) Long.SIZE * fitted.length) {
            fitted = BloomKeyFilter.halved(fitted);
        }
        return fitted;
    }
}
