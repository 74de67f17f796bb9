// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.concurrent.TimeUnit;

/**
 * Detects that the serving kernel makes no progress with the steps of one engine. Not thread-safe.
 */
final class StallDetector {

    private static final long CHECK_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Minimum number of polls without progress before the kernel counts as stalled. */
    private static final int POLLS_BEFORE_STALL = 4;

    private final DeviceLease lease;
    private final long timeoutNs;

    /** Nanoseconds without progress. */
    private long waitedNs;

    private long lastCheckNs;
    private long stopCountSeen;

    /** Completed steps of all joins. */
    private long progressSeen;

    /**
     * @param timeoutNs time without progress after which the device is lost
     */
    StallDetector(DeviceLease lease, long timeoutNs) {
        this.lease = lease;
        this.timeoutNs = timeoutNs;
    }

    /** Starts to wait anew: a step was completed, or is the first one after none. */
    void markProgress() {
        lastCheckNs = System.nanoTime();
        waitedNs = 0;
    }

    /**
     * Called with each poll that finds no results.
     *
     * @param awaitsOthers whether a step is not posted because of other joins; then the completion
     *     of their steps is progress
     * @throws GpuUnavailableException if the kernel has ended or stalled; then the device is lost
     */
    void check(boolean awaitsOthers) {
        long sinceNs = System.nanoTime() - lastCheckNs;
        if (sinceNs < CHECK_NS) {
            return;
        }
        lease.requireRunning();
        if (stopCountSeen != lease.stopCount()) {
            stopCountSeen = lease.stopCount();
            markProgress();
            return;
        }
        long ofOthers = lease.ring().completedCount();
        if (awaitsOthers && ofOthers != progressSeen) {
            progressSeen = ofOthers;
            markProgress();
            return;
        }
        lastCheckNs += sinceNs;
        // Under backpressure polls are rare, and steps due meanwhile are posted only now. Limit
        // how much one gap between polls counts.
        waitedNs += Math.min(sinceNs, timeoutNs / POLLS_BEFORE_STALL);
        if (waitedNs >= timeoutNs) {
            // Other engines of the device fail at once, without waiting for the timeout too.
            lease.loseStalled();
            throw new GpuUnavailableException(
                    GpuFailure.KERNEL_STALLED,
                    "Step timed out: waitedNs=" + waitedNs + ", heartbeat=" + lease.heartbeat());
        }
    }
}
