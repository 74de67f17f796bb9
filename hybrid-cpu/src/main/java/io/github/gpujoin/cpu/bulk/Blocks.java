// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

/**
 * Divides long loops into blocks. Before each, a loop ends if its thread is interrupted, so that
 * closing a join does not wait for its results.
 */
final class Blocks {

    /** A block takes microseconds, and a check of the interrupt nanoseconds. */
    private static final int BLOCK_ITEMS = 4096;

    /** Receives the bounds of a block. */
    @FunctionalInterface
    interface Visitor {
        void visit(long from, long to) throws InterruptedException;
    }

    private Blocks() {}

    /** Visits the blocks of a number of items, in order. */
    static void forEach(long items, Visitor visitor) throws InterruptedException {
        for (long from = 0; from < items; from += BLOCK_ITEMS) {
            checkInterrupt();
            visitor.visit(from, Math.min(items, from + BLOCK_ITEMS));
        }
    }

    static void checkInterrupt() throws InterruptedException {
        if (Thread.interrupted()) {
            throw new InterruptedException();
        }
    }
}
