package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Brings the segments of one engine from their pinned slots to their slots in device memory, beside
 * the serving kernel.
 *
 * <pre>
 *   FREE --written--&gt; WAITING --a batch is full--&gt; COPYING --the copy ended--&gt; ARRIVED --taken--&gt; FREE
 * </pre>
 *
 * <p>Slots side by side go in one copy, since the bus gives many small copies half of what it gives
 * large ones: segments wait until a batch is full, unless all before them are taken (Nagle's rule,
 * RFC 896). So copies grow with the load, and a lone segment does not wait. Not thread-safe.
 */
final class SegmentCopies {

    /** Size from which a larger copy gains little. */
    static final long BATCH_BYTES = 4 << 20;

    /** Unused end of a slot that takes the bus less time than a copy of its own would. */
    static final long MAX_GAP_BYTES = 32 << 10;

    /** At most this part of the slots waits for a batch; the others are copied, joined and read. */
    private static final int BATCHES_PER_RING = 4;

    private final CudaDriver driver;
    private final long pinned;
    private final long device;
    private final long segmentBytes;
    private final int batchSlots;
    private final int[] lengthBytes;
    private final State[] states;
    private final List<Integer> waiting = new ArrayList<>();
    private final ArrayDeque<Copy> underWay = new ArrayDeque<>();
    private int slotsAhead;

    private enum State {
        FREE,
        WAITING,
        COPYING,
        ARRIVED;

        State to(State next) {
            if (next != values()[(ordinal() + 1) % values().length]) {
                throw new IllegalStateException(
                        "a slot goes from FREE through all states to FREE: state="
                                + this
                                + ", next="
                                + next);
            }
            return next;
        }
    }

    /**
     * A copy that was started.
     *
     * @param number of the driver's
     * @param end first slot behind it
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
     * Tells that a segment stands in its pinned slot, which was free.
     *
     * @throws GpuUnavailableException where the driver refuses to copy
     */
    void written(int slot, int segmentLengthBytes) {
        states[slot] = states[slot].to(State.WAITING);
        lengthBytes[slot] = segmentLengthBytes;
        waiting.add(slot);
        if (waiting.size() >= batchSlots) {
            startAll();
        }
    }

    /** Tells that the results of a slot are taken, so that it may be written again. */
    void taken(int slot) {
        states[slot] = states[slot].to(State.FREE);
        slotsAhead--;
    }

    /**
     * Looks which copies are over, and copies what waits where all before it is taken.
     *
     * @throws GpuUnavailableException where the driver refuses
     */
    void advance() {
        reap();
        if (slotsAhead == 0) {
            startAll();
        }
    }

    private void reap() {
        while (!underWay.isEmpty() && driver.hasCopied(underWay.peek().number)) {
            Copy copy = underWay.remove();
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
        slotsAhead += lastSlot + 1 - firstSlot;
        long offset = firstSlot * segmentBytes;
        long copyBytes = (lastSlot - firstSlot) * segmentBytes + lengthBytes[lastSlot];
        long number = driver.startCopyToDevice(device + offset, pinned + offset, copyBytes);
        underWay.add(new Copy(number, firstSlot, lastSlot + 1));
    }

    /** Whether a slot's segment stands in device memory, as far as {@link #advance} has seen. */
    boolean hasArrived(int slot) {
        return states[slot] == State.ARRIVED;
    }

    /** Whether no copy is under way, so that the memory may be freed. Starts none. */
    boolean isQuiet() {
        reap();
        return underWay.isEmpty();
    }
}
