// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.filter;

import java.io.Serializable;

/**
 * A piece of the keys of a {@link KeyFilterBuilder}, for a message: pages of a bitmap, or words of
 * a Bloom filter.
 *
 * @param keyCount keys of all pieces; in the first piece only, 0 in others
 * @param min smallest key of all pieces; above {@code max} if there are no keys
 * @param max largest key of all pieces
 * @param pages numbers of the pages, each of 64 words, that {@code words} holds one after another
 * @param bloomWords size of the whole Bloom filter in words; 0 if the keys are in pages
 * @param firstWord index of the first word in the Bloom filter
 * @param words the bits
 */
public record KeyPiece(
        long keyCount,
        long min,
        long max,
        long[] pages,
        int bloomWords,
        int firstWord,
        long[] words)
        implements Serializable {}
