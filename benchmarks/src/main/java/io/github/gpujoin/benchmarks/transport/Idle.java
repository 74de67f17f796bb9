// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.transport;

/** What a polling thread does when there is nothing: spins, then lets others run. */
final class Idle {

    private static final int SPINS = 200;

    private int spins;

    void reset() {
        spins = 0;
    }

    void pause() {
        if (++spins < SPINS) {
            Thread.onSpinWait();
        } else {
            Thread.yield();
        }
    }
}
