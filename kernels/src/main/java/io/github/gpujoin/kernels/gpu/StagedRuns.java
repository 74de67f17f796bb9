// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The pinned runs of a join, shared by its inputs. Some are written by threads, while the bus reads
 * others.
 *
 * <pre>
 *  free -- acquire --> open, claimed row by row -- pass --> full, partly written -- sink --> free
 * </pre>
 *
 * <p>Sinks receive full runs in the order in which they were filled, on the thread of the join,
 * adjacent ones together: the bus copies runs of 786 KB one by one at 46 GB/s, and several of them
 * by one call at up to 55. Not thread-safe.
 */
final class StagedRuns {

    /**
     * Runs for each thread that copies: one that it writes, and others that the bus reads while the
     * thread of the join waits for kernels.
     */
    private static final int THREAD_RUNS = 4;

    /** Wide rows have long runs, and leave memory to the values and runs that stay. */
    private static final long MAX_BYTES = 64L << 20;

    /** Maximum of adjacent runs that a sink receives together. */
    private static final int MAX_TOGETHER = 4;

    /** Written runs wait for adjacent ones only if they are a small share of all runs. */
    private static final int TOGETHER_SHARE = 8;

    /** A sink with the bytes that it reads of each run. */
    record Target(RunSink sink, long runBytes) {

        /** Length of runs that the sink receives one by one. */
        static final long SINGLE_RUNS = -1;

        /** Returns whether the sink reads all bytes of runs of a length. */
        boolean isAdjacent(int stagedBytes) {
            return runBytes == stagedBytes;
        }
    }

    private final BulkDevice device;
    private final BulkMemory memory;
    private final int runBytes;
    private int maxRuns;
    private int runCount;

    /** Runs that may be acquired, once their copies have ended; those passed first are first. */
    private final ArrayDeque<StagedRun> free = new ArrayDeque<>();

    private final ArrayDeque<Full> full = new ArrayDeque<>();

    /** The run that was acquired last; null before the first one. */
    private @Nullable StagedRun last;

    /** A run that a sink receives, once it is written. */
    private record Full(StagedRun run, Target target) {}

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

    /** Adds free runs, ascending and before the others, and returns the number of all. */
    private int allocate(int runs) {
        long first = memory.allocatePinned((long) runs * runBytes);
        for (int i = runs - 1; i >= 0; i--) {
            free.addFirst(new StagedRun(first + (long) i * runBytes, i > 0, DeviceCopy.NONE));
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
        passWritten(false);
        StagedRun run = takeReady();
        if (run == null && runCount < maxRuns) {
            grow();
            run = takeReady();
        }
        while (run == null) {
            passWritten(true);
            if (free.isEmpty()) {
                passOldest();
            }
            free.element().copy().await();
            run = takeReady();
        }
        last = run;
        return run;
    }

    /**
     * Removes a free run whose copy has ended: the one after the last run if possible, or else the
     * first one. Devices of a group copy at different rates.
     */
    private @Nullable StagedRun takeReady() throws InterruptedException {
        StagedRun ready = null;
        for (StagedRun run : free) {
            boolean isNext = last != null && run.isAfter(last, runBytes);
            if ((isNext || ready == null) && run.copy().isOver()) {
                ready = run;
                if (isNext) {
                    break;
                }
            }
        }
        if (ready != null) {
            free.remove(ready);
        }
        return ready;
    }

    private void grow() {
        int more = Math.min(runCount, maxRuns - runCount);
        if (BulkAllocator.ifRoom(() -> allocate(more)).isEmpty()) {
            maxRuns = runCount;
        }
    }

    /** Passes on a run, all of whose rows are claimed, when it is written. */
    void pass(StagedRun run, Target target) {
        full.add(new Full(run, target));
    }

    /**
     * Passes on runs as far as they are written.
     *
     * @param isUrgent whether no run waits for adjacent ones that are not written yet
     */
    private void passWritten(boolean isUrgent) throws InterruptedException {
        while (!full.isEmpty() && full.element().run().isWritten()) {
            List<Full> together = together();
            if (!isUrgent && mayGrow(together)) {
                return;
            }
            pass(together);
        }
    }

    private boolean mayGrow(List<Full> together) {
        if (together.size() == maxTogether() || !together.get(0).target().isAdjacent(runBytes)) {
            return false;
        }
        return together.size() == full.size() || isNextAdjacent(together);
    }

    private int maxTogether() {
        return Math.max(1, Math.min(MAX_TOGETHER, maxRuns / TOGETHER_SHARE));
    }

    /** Returns the oldest full run, and those after it that are written and adjacent. */
    private List<Full> together() {
        List<Full> runs = new ArrayList<>();
        for (Full next : full) {
            boolean isFirst = runs.isEmpty();
            if (!isFirst && (runs.size() == maxTogether() || !continues(runs, next))) {
                break;
            }
            if (!isFirst && !next.run().isWritten()) {
                break;
            }
            runs.add(next);
        }
        return runs;
    }

    private boolean isNextAdjacent(List<Full> together) {
        Iterator<Full> rest = full.iterator();
        together.forEach(run -> rest.next());
        return continues(together, rest.next());
    }

    private boolean continues(List<Full> runs, Full next) {
        Full before = runs.get(runs.size() - 1);
        return next.target() == before.target()
                && next.target().isAdjacent(runBytes)
                && before.run().room() == 0
                && next.run().isAfter(before.run(), runBytes);
    }

    /** Waits until all runs are passed on. */
    void passAll() throws InterruptedException {
        while (!full.isEmpty()) {
            passOldest();
        }
    }

    /** Waits until the oldest run is written, and passes it on with those after it. */
    private void passOldest() throws InterruptedException {
        StagedRun oldest = full.element().run();
        if (!oldest.isWritten()) {
            long startNs = System.nanoTime();
            oldest.awaitWritten();
            device.waited(BulkWait.THREADS, startNs);
        }
        pass(together());
    }

    private void pass(List<Full> runs) throws InterruptedException {
        device.threads().throwFailure();
        int rows = runs.stream().mapToInt(run -> run.run().claimedRows()).sum();
        Full first = runs.get(0);
        DeviceCopy copy = first.target().sink().add(first.run().address(), rows);
        for (Full run : runs) {
            full.remove();
            run.run().passed(copy);
            free.add(run.run());
        }
    }
}
