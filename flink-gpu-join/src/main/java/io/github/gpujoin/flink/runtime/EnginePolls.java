// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.jspecify.annotations.Nullable;

/**
 * Polls the engine for results, and counts the task as idle from a poll without results until the
 * next poll or other work.
 */
final class EnginePolls {

    private final JoinEngine engine;
    private final TimerGauge idle;

    /**
     * @param idle idle time of the task
     */
    EnginePolls(JoinEngine engine, TimerGauge idle) {
        this.engine = engine;
        this.idle = idle;
    }

    /** Returns a batch of results, or null if none is ready. */
    @Nullable ResultBatch poll() {
        idle.markEnd();
        ResultBatch batch = engine.poll();
        if (batch == null && engine.inFlightCount() > 0 && !engine.awaitsDrain()) {
            idle.markStart();
        }
        return batch;
    }

    /** Ends the idle time, as other work begins. */
    void interrupted() {
        idle.markEnd();
    }
}
