// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import org.jspecify.annotations.Nullable;

/**
 * Assigns positions in pinned runs to rows of one input, and passes full runs to a sink. Not
 * thread-safe.
 */
final class RunStaging {

    private final StagedRuns runs;
    private final StagedRuns.Target target;

    /** The run whose rows are claimed; null if the next row needs another one. */
    private @Nullable StagedRun open;

    private RunStaging(StagedRuns runs, StagedRuns.Target target) {
        this.runs = runs;
        this.target = target;
    }

    /**
     * Returns a staging that passes adjacent runs together.
     *
     * @param runBytes that the sink reads of each run
     */
    static RunStaging of(StagedRuns runs, RunSink sink, int runBytes) {
        return new RunStaging(runs, new StagedRuns.Target(sink, runBytes));
    }

    /** Returns a staging that passes each run alone. */
    static RunStaging ofSingleRuns(StagedRuns runs, RunSink sink) {
        return new RunStaging(runs, new StagedRuns.Target(sink, StagedRuns.Target.SINGLE_RUNS));
    }

    /**
     * Rows that their claimant writes, and then counts by {@link #written}.
     *
     * @param first position of the first row
     */
    record Claim(StagedRun run, int first, int rows) {

        void written() {
            run.written(rows);
        }
    }

    /**
     * Claims positions of consecutive rows, of at least one and at most {@code rows}.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if a sink has no room, or a
     *     device, a file or a thread failed
     */
    Claim claim(int rows) throws InterruptedException {
        if (open == null) {
            open = runs.acquire();
        }
        StagedRun run = open;
        int claimed = Math.min(rows, run.room());
        int first = run.claim(claimed);
        if (run.room() == 0) {
            passOpen();
        }
        return new Claim(run, first, claimed);
    }

    /** Whether {@link #claim} may wait until rows of earlier claims are written. */
    boolean mayWait() {
        return open == null && !runs.reserve();
    }

    /** Returns the rows that the open run has room for; 0 if the next row needs another one. */
    int room() {
        return open == null ? 0 : open.room();
    }

    private void passOpen() {
        runs.pass(open, target);
        open = null;
    }

    /** Passes on the open run, when it is written. The next row needs another one. */
    void finish() {
        if (open != null) {
            passOpen();
        }
    }
}
