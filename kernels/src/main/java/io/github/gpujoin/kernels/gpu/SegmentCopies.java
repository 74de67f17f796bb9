// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Copies the segments of one engine from their pinned slots to their slots in device memory, while
 * the serving kernel runs.
 *
 * <pre>
 *   FREE --written--&gt; WAITING --batch full--&gt; COPYING --copied--&gt; ARRIVED --released--&gt; FREE
 * </pre>
 *
 * <p>Adjacent slots share one copy, since many small copies reach half the bandwidth of large ones.
 * Segments wait until a batch is full, unless all earlier ones have been released (Nagle's rule,
 * RFC 896). Copies therefore grow with the load, and a lone segment does not wait. Not thread-safe.
 */
final class SegmentCopies {

    /** Bytes of a batch; larger copies gain little. */
    static final long BATCH_BYTES = 4 << 20;

    /** Unused bytes at the end of a slot that are cheaper to copy than a separate copy. */
    static final long MAX_GAP_BYTES = 32 << 10;

    /**
     * Divisor: at most a quarter of the slots waits for a batch, while the others are copied,
     * joined and read.
     */
    private static final int BATCHES_PER_RING = 4;

    private final CudaDriver driver;
    private final long pinned;
    private final long device;
    private final long segmentBytes;
    private final int batchSlots;
    private final int[] lengthBytes;
    private final State[] states;
    private final List<Integer> waiting = new ArrayList<>();
    private final ArrayDeque<Copy> inFlight = new ArrayDeque<>();
    private int unreleasedSlots;

    private enum State {
        FREE,
        WAITING,
        COPYING,
        ARRIVED;

        State to(State next) {
            if (next != values()[(ordinal() + 1) % values().length]) {
                throw new IllegalStateException(
                        "Illegal slot transition: state=" + this + ", next=" + next);
            }
            return next;
        }
    }

    /**
     * An in-flight copy.
     *
     * @param number of the copy in the driver
     * @param end slot after the last one
     */
    private record Copy(long number, int firstSlot, int end) {}

    /**
     * @param pinned address of slot 0 in pinned memory
     * @param device address of slot 0 in device memory
     */
    SegmentCopies(CudaDriver driver, long pinned, long device, int slots, long segmentBytes) {
        this.driver = driver;
        this.pinned = pinned;
        this.device = device;
        this.segmentBytes = segmentBytes;
        this.lengthBytes = new int[slots];
        this.states = new State[slots];
        Arrays.fill(states, State.FREE);
        long fullBatch = (BATCH_BYTES + segmentBytes - 1) / segmentBytes;
        this.batchSlots = (int) Math.max(1, Math.min(fullBatch, slots / BATCHES_PER_RING));
    }

    /**
     * Adds a segment that was written to its pinned slot. The slot must have been free.
     *
     * @throws GpuUnavailableException if the driver cannot start the copy
     */
    void written(int slot, int segmentLengthBytes) {
        states[slot] = states[slot].to(State.WAITING);
        lengthBytes[slot] = segmentLengthBytes;
        waiting.add(slot);
        if (waiting.size() >= batchSlots) {
            startAll();
        }
    }

    /** Frees a slot whose results have been read, so that it may be written again. */
    void release(int slot) {
        states[slot] = states[slot].to(State.FREE);
        unreleasedSlots--;
    }

    /**
     * Notes completed copies, and starts those of waiting segments if all earlier ones have been
     * released.
     *
     * @throws GpuUnavailableException if a driver call fails
     */
    void advance() {
        reap();
        if (unreleasedSlots == 0) {
            startAll();
        }
    }

    private void reap() {
        while (!inFlight.isEmpty() && driver.hasCopied(inFlight.peek().number)) {
            Copy copy = inFlight.remove();
            for (int slot = copy.firstSlot; slot < copy.end; slot++) {
                states[slot] = states[slot].to(State.ARRIVED);
            }
        }
    }

    private void startAll() {
        Collections.sort(waiting);
        int first = 0;
        for (int i = 1; i <= waiting.size(); i++) {
            if (i == waiting.size() || !isNext(waiting.get(i - 1), waiting.get(i))) {
                start(waiting.get(first), waiting.get(i - 1));
                first = i;
            }
        }
        waiting.clear();
    }

    private boolean isNext(int slot, int other) {
        return other == slot + 1 && segmentBytes - lengthBytes[slot] <= MAX_GAP_BYTES;
    }

    private void start(int firstSlot, int lastSlot) {
        for (int slot = firstSlot; slot <= lastSlot; slot++) {
            states[slot] = states[slot].to(State.COPYING);
        }
        unreleasedSlots += lastSlot + 1 - firstSlot;
        long offset = firstSlot * segmentBytes;
        long copyBytes = (lastSlot - firstSlot) * segmentBytes + lengthBytes[lastSlot];
        long number = driver.startCopyToDevice(device + offset, pinned + offset, copyBytes);
        inFlight.add(new Copy(number, firstSlot, lastSlot + 1));
    }

    /**
     * Returns whether the segment of a slot is in device memory, as of the last {@link #advance}.
     */
    boolean hasArrived(int slot) {
        return states[slot] == State.ARRIVED;
    }

    /** Returns whether no copy is in flight, so that the memory may be freed. Starts none. */
    boolean isQuiet() {
        reap();
        return inFlight.isEmpty();
    }
}
