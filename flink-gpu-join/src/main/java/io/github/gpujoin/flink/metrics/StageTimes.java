// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLongArray;

/**
 * Time of a subtask's thread by stage. Measured by chunk or batch, never by row: two clock reads of
 * 25 ns each for about 100 us of work. One thread adds; any thread may read.
 */
public final class StageTimes {

    public enum Stage {
        /** Waiting for payload outside Flink's channel, and copying it. */
        RECEIVE,
        /** Writing build chunks to the log and to the engine. */
        LOAD,
        /** Building tables after the last build chunk. */
        BUILD,
        /** Joining facts, and writing waiting ones to state. */
        JOIN,
        /** Emitting results, chained operators included. */
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
        // One writer, so a plain read and write is enough.
        timesNs.lazySet(index, timesNs.getPlain(index) + ns);
    }

    /** Time since the subtask started, in ms. Emission is not counted in JOIN as well. */
    long timeMs(Stage stage) {
        long ns = timesNs.get(stage.ordinal());
        if (stage == Stage.JOIN) {
            ns = Math.max(0, ns - timesNs.get(Stage.EMIT.ordinal()));
        }
        return TimeUnit.NANOSECONDS.toMillis(ns);
    }
}
