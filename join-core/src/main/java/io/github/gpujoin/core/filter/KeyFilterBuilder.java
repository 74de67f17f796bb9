// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.LongConsumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/**
 * Collects the keys of a dimension. Keys go to pages of a sparse bitmap; if these exceed the limit,
 * to a Bloom filter of the limit. Builders of one limit can be merged, since their Bloom filters
 * have one geometry until {@link #build} halves them. Not thread-safe.
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
        page(key >> PAGE_SHIFT)[(int) (key >>> 6) & PAGE_WORDS - 1] |= 1L << key;
        limitPages();
    }

    private long[] page(long page) {
        if (page != lastPage || lastWords.length == 0) {
            lastPage = page;
            lastWords = pages.computeIfAbsent(page, p -> new long[PAGE_WORDS]);
        }
        return lastWords;
    }

    private void limitPages() {
        if (pages.size() * PAGE_WORDS > maxWords) {
            useBloom();
        }
    }

    private void useBloom() {
        if (bloom.length == 0) {
            bloom = bloomOfPages(maxWords);
            pages = new HashMap<>();
            lastWords = new long[0];
        }
    }

    /**
     * Adds keys of another builder.
     *
     * @param piece of {@link #pieces}
     * @throws IllegalArgumentException if the other builder has another limit
     */
    public void add(KeyPiece piece) {
        if (piece.bloomWords() > 0 && piece.bloomWords() != maxWords) {
            throw new IllegalArgumentException(
                    "Key filters have different limits: words=%d and %d."
                            .formatted(piece.bloomWords(), maxWords));
        }
        keyCount += piece.keyCount();
        min = Math.min(min, piece.min());
        max = Math.max(max, piece.max());
        long[] words = piece.words();
        if (piece.bloomWords() > 0) {
            useBloom();
            for (int i = 0; i < words.length; i++) {
                bloom[piece.firstWord() + i] |= words[i];
            }
        }
        for (int i = 0; i < piece.pages().length; i++) {
            addPage(piece.pages()[i], words, i * PAGE_WORDS);
        }
    }

    private void addPage(long page, long[] from, int start) {
        if (bloom.length > 0) {
            forEachInPage(page, from, start, key -> BloomKeyFilter.add(bloom, key));
            return;
        }
        long[] into = page(page);
        for (int i = 0; i < PAGE_WORDS; i++) {
            into[i] |= from[start + i];
        }
        limitPages();
    }

    /** Adds all keys of another builder, which has the same limit and stays as it is. */
    public void addAll(KeyFilterBuilder other) {
        other.pieces(Integer.MAX_VALUE).forEach(this::add);
    }

    /**
     * Returns copies of the keys in pieces, at least one, each made when it is consumed. No key may
     * be added meanwhile.
     *
     * @param maxPieceBytes limit of the size of a piece's words, at least 512
     */
    public Stream<KeyPiece> pieces(int maxPieceBytes) {
        return bloom.length > 0
                ? bloomPieces(maxPieceBytes / Long.BYTES)
                : pagePieces(maxPieceBytes / Long.BYTES / PAGE_WORDS);
    }

    private Stream<KeyPiece> bloomPieces(int pieceWords) {
        return IntStream.rangeClosed(0, (bloom.length - 1) / pieceWords)
                .map(i -> i * pieceWords)
                .mapToObj(
                        first ->
                                piece(
                                        first == 0,
                                        new long[0],
                                        bloom.length,
                                        first,
                                        Arrays.copyOfRange(
                                                bloom,
                                                first,
                                                Math.min(bloom.length - first, pieceWords)
                                                        + first)));
    }

    private Stream<KeyPiece> pagePieces(int piecePages) {
        long[] numbers = pages.keySet().stream().mapToLong(Long::longValue).sorted().toArray();
        return IntStream.rangeClosed(0, Math.max(0, numbers.length - 1) / piecePages)
                .map(i -> i * piecePages)
                .mapToObj(
                        first -> {
                            int count = Math.min(numbers.length - first, piecePages);
                            long[] of = Arrays.copyOfRange(numbers, first, first + count);
                            long[] words = new long[count * PAGE_WORDS];
                            for (int i = 0; i < count; i++) {
                                System.arraycopy(
                                        pages.get(of[i]), 0, words, i * PAGE_WORDS, PAGE_WORDS);
                            }
                            return piece(first == 0, of, 0, 0, words);
                        });
    }

    private KeyPiece piece(
            boolean isFirst, long[] of, int bloomWords, int firstWord, long[] words) {
        return new KeyPiece(isFirst ? keyCount : 0, min, max, of, bloomWords, firstWord, words);
    }

    /** Returns the size of the collected keys in bytes. */
    public long lengthBytes() {
        return (long) Long.BYTES * (bloom.length + pages.size() * PAGE_WORDS);
    }

    /** Returns a Bloom filter of the keys in pages. */
    private long[] bloomOfPages(int wordCount) {
        long[] words = new long[wordCount];
        forEachInPages(key -> BloomKeyFilter.add(words, key));
        return words;
    }

    private void forEachInPages(LongConsumer action) {
        pages.forEach((page, words) -> forEachInPage(page, words, 0, action));
    }

    private static void forEachInPage(long page, long[] from, int start, LongConsumer action) {
        for (int i = 0; i < PAGE_WORDS; i++) {
            for (long left = from[start + i]; left != 0; left &= left - 1) {
                long bit = 64L * i + Long.numberOfTrailingZeros(left);
                action.accept((page << PAGE_SHIFT) + bit);
            }
        }
    }

    /**
     * Builds the filter of all added keys. No key may be added afterwards.
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
