// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * How a subtask's thread spends its time. Measured a chunk or a batch at a time, never a row: two
 * looks at the clock, about 50 ns, for some 100 us of work. One thread adds; any may read.
 */
public final class StageTimes {

    public enum Stage {
        /** Waiting for chunks that travel beside Flink's channel, and copying them. */
        RECEIVE,
        /** Build chunks to the log in state, and to the engine. */
        LOAD,
        /** Making tables after the last build chunk. */
        BUILD,
        /** Facts through the engine, and to state and back where they wait. */
        JOIN,
        /** Results to records, and through all operators that are chained behind the join. */
        EMIT
    }

    private final AtomicLongArray timesNs = new AtomicLongArray(Stage.values().length);

    /**
     * @param startNs {@link System#nanoTime()} when the work began
     */
    public void addSince(Stage stage, long startNs) {
        add(stage, System.nanoTime() - startNs);
    }

    void add(Stage stage, long ns) {
        int index = stage.ordinal();
        // One writer: no other thread's addition can come in between.
        timesNs.lazySet(index, timesNs.getPlain(index) + ns);
    }

    /**
     * Milliseconds since the subtask started; what is emitted while facts are joined is not twice.
     */
    long timeMs(Stage stage) {
        long ns = timesNs.get(stage.ordinal());
        if (stage == Stage.JOIN) {
            ns = Math.max(0, ns - timesNs.get(Stage.EMIT.ordinal()));
        }
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }
}
