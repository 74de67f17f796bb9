// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

/**
 * The choices of a schedule. Each depends on the seed and its step alone, so that a schedule with a
 * fault or a row less is much like the one before.
 */
final class Choices {

    private final long seed;
    private long step;
    private int choice;

    Choices(long seed) {
        this.seed = seed;
    }

    void beginStep(long number) {
        step = number;
        choice = 0;
    }

    /** A number from 0 up to the bound, exclusively. */
    int next(int bound) {
        // SplitMix64's finalizer
        long z = seed + 0x9E3779B97F4A7C15L * (step * 31 + choice++ + 1);
        z = (z ^ (z >>> 30)) * 0xBF58476D1CE4E5B9L;
        z = (z ^ (z >>> 27)) * 0x94D049BB133111EBL;
        z ^= z >>> 31;
        return (int) Long.remainderUnsigned(z, bound);
    }
}
