// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.ArrayDeque;
import java.util.Queue;

/**
 * The pinned runs of a join, shared by its inputs. Some are written by threads, while the bus reads
 * others.
 *
 * <pre>
 *  free -- acquire --> open, claimed row by row -- pass --> full, partly written -- sink --> free
 * </pre>
 *
 * <p>Sinks receive full runs in the order in which they were filled, on the thread of the join. Not
 * thread-safe.
 */
final class StagedRuns {

    /**
     * Runs for each thread that copies: one that it writes, and others that the bus reads while the
     * thread of the join waits for kernels.
     */
    private static final int THREAD_RUNS = 4;

    /** Wide rows have long runs, and leave memory to the values and runs that stay. */
    private static final long MAX_BYTES = 64L << 20;

    private final BulkDevice device;
    private final BulkMemory memory;
    private final int runBytes;
    private int maxRuns;
    private int runCount;

    /** Runs that may be acquired, once their copies have ended; those that end first are first. */
    private final ArrayDeque<StagedRun> free = new ArrayDeque<>();

    private final Queue<Full> full = new ArrayDeque<>();

    /** A run that a sink receives next, once it is written. */
    private record Full(StagedRun run, RunSink sink) {}

    /**
     * Allocates the first runs, before rows can fill the host memory.
     *
     * @param device owner of the pinned memory, from which all devices of the join copy
     * @param openRuns maximum of runs that are acquired and not passed on
     * @param runBytes of the longest run
     */
    StagedRuns(BulkDevice device, BulkMemory memory, int openRuns, int runBytes) {
        this.device = device;
        this.memory = memory;
        this.runBytes = runBytes;
        long mostRuns = 2L * openRuns + THREAD_RUNS * device.threads().count();
        this.maxRuns = (int) Math.max(2L * openRuns, Math.min(mostRuns, MAX_BYTES / runBytes));
        allocate(openRuns);
    }

    /** Adds free runs, and returns the number of all. */
    private int allocate(int runs) {
        long first = memory.allocatePinned((long) runs * runBytes);
        for (int i = 0; i < runs; i++) {
            free.addFirst(new StagedRun(first + (long) i * runBytes, DeviceCopy.none(device)));
        }
        runCount += runs;
        return runCount;
    }

    /** Allocates runs if none is free, and returns whether {@link #acquire} waits for no thread. */
    boolean reserve() {
        if (free.isEmpty() && runCount < maxRuns) {
            grow();
        }
        return !free.isEmpty();
    }

    /** Returns an empty run. Waits if all are written or copied. */
    StagedRun acquire() throws InterruptedException {
        passWritten();
        boolean isReady = !free.isEmpty() && free.element().copy().isOver();
        if (!isReady && runCount < maxRuns) {
            grow();
        }
        while (free.isEmpty()) {
            passOldest();
        }
        free.element().copy().await();
        return free.remove();
    }

    private void grow() {
        int more = Math.min(runCount, maxRuns - runCount);
        if (BulkAllocator.ifRoom(() -> allocate(more)).isEmpty()) {
            maxRuns = runCount;
        }
    }

    /** Passes on a run, all of whose rows are claimed, when it is written. */
    void pass(StagedRun run, RunSink sink) {
        full.add(new Full(run, sink));
    }

    /** Passes on runs as far as they are written. */
    void passWritten() throws InterruptedException {
        while (!full.isEmpty() && full.element().run().isWritten()) {
            passOldest();
        }
    }

    /** Waits until all runs are passed on. */
    void passAll() throws InterruptedException {
        while (!full.isEmpty()) {
            passOldest();
        }
    }

    private void passOldest() throws InterruptedException {
        Full oldest = full.element();
        StagedRun run = oldest.run();
        if (!run.isWritten()) {
            long startNs = System.nanoTime();
            run.awaitWritten();
            device.waited(BulkWait.THREADS, startNs);
        }
        device.threads().throwFailure();
        DeviceCopy copy = oldest.sink().add(run.address(), run.claimedRows());
        full.remove();
        run.passed(copy);
        free.add(run);
    }
}
