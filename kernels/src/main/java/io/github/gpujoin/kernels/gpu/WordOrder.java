// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Whether the words of an input are in ascending order, as signed numbers of their width on the
 * device. Keys of less than 4 bytes have words without sign, so that those with negative numbers
 * may count as out of order.
 *
 * <p>Threads check consecutive rows at the same time: each knows the last word before its own.
 * Costs nothing once words are out of order.
 */
final class WordOrder {

    /** Shared by all parts of an input. */
    static final class Input {

        private volatile boolean isAscending = true;

        boolean isAscending() {
            return isAscending;
        }
    }

    private final Input input;
    private long lastWord;

    /**
     * @param lastWord of the row before
     */
    WordOrder(Input input, long lastWord) {
        this.input = input;
        this.lastWord = lastWord;
    }

    /** Checks the words of the first encoded rows, apart from those of null keys. */
    void check(RunWriter rows, int count) {
        if (!input.isAscending) {
            return;
        }
        long last = lastWord;
        for (int i = 0; i < count; i++) {
            if (!rows.encoder().isNull(i)) {
                long word = rows.word(i);
                if (word < last) {
                    input.isAscending = false;
                    return;
                }
                last = word;
            }
        }
        lastWord = last;
    }
}
