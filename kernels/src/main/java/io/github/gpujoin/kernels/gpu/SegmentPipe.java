package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import java.util.concurrent.TimeUnit;

/**
 * Segments of one engine on their way through the kernel, first in, first out.
 *
 * <p>A segment takes as many steps as its results take buffers. The next step is asked for into the
 * other buffer as soon as the last one is seen to be complete, also behind the head: the kernel
 * works while results are read, or wait for their turn. Not thread-safe.
 */
final class SegmentPipe {

    private static final long NOT_POSTED = -1;
    private static final long LIVENESS_CHECK_NS = TimeUnit.MILLISECONDS.toNanos(5);

    /** Looks without progress, at the least, before the kernel is given up. */
    private static final int LOOKS_BEFORE_STALL = 4;

    private final DeviceLease lease;
    private final int plan;
    private final SegmentSlots slots;
    private final FactSegments facts;
    private final SegmentSizer sizer;
    private final ResultBatch[] batches;
    private final Segment[] segmentOfSlot;
    private final long epoch;
    private final long stallTimeoutNs;
    private final ArrayDeque<Segment> underWay = new ArrayDeque<>();
    private long nextSequence;
    private long nextLook;
    private long deviceBusyNs;
    private boolean headIsLent;
    private boolean groupsFull;

    /** Time without progress, and when it was last looked at. */
    private long waitedNs;

    private long lastLookNs;
    private long pausesSeen;

    /**
     * Rows of a chunk in a slot, and the steps asked for: the one whose results are taken next, in
     * {@code buffer}, and the one after it, in the other.
     */
    private static final class Segment {
        final Chunk chunk;
        final int firstRow;
        final int rowCount;
        final int slot;
        final long sequence;
        int buffer;
        int completedRows;
        boolean resume;
        long ticket = NOT_POSTED;
        long nextTicket = NOT_POSTED;

        Segment(Chunk chunk, int firstRow, int rowCount, int slot, long sequence) {
            this.chunk = chunk;
            this.firstRow = firstRow;
            this.rowCount = rowCount;
            this.slot = slot;
            this.sequence = sequence;
        }
    }

    /**
     * @param sizer told what each step gave
     */
    SegmentPipe(
            DeviceLease lease,
            int plan,
            SegmentSlots slots,
            FactSegments facts,
            SegmentSizer sizer,
            ResultLayout layout,
            long stallTimeoutNs) {
        this.lease = lease;
        this.plan = plan;
        this.slots = slots;
        this.facts = facts;
        this.sizer = sizer;
        this.epoch = lease.nextEpoch();
        this.stallTimeoutNs = stallTimeoutNs;
        this.segmentOfSlot = new Segment[slots.count()];
        this.batches = new ResultBatch[SegmentSlots.RESULT_BUFFERS * slots.count()];
        layOut(layout);
    }

    /** Has batches of this layout object, of the same layout as before, from now on. */
    void layOut(ResultLayout layout) {
        for (int i = 0; i < batches.length; i++) {
            int slot = i / SegmentSlots.RESULT_BUFFERS;
            int buffer = i % SegmentSlots.RESULT_BUFFERS;
            batches[i] = new ResultBatch(layout, slots.resultAddress(slot, buffer));
        }
    }

    /** Device time of all steps taken, summed over blocks. */
    long deviceBusyNs() {
        return deviceBusyNs;
    }

    boolean hasRoom() {
        return !groupsFull && underWay.size() < slots.count();
    }

    /** Whether the head stopped for too many groups; it goes on after {@link #groupsTaken}. */
    boolean groupsFull() {
        return groupsFull;
    }

    /** Goes on with all segments that stopped for too many groups. */
    void groupsTaken() {
        groupsFull = false;
        for (Segment segment : underWay) {
            if (isDone(segment) && completion(segment).hasFullGroups()) {
                account(segment);
                goOn(segment);
            }
        }
        progressed();
    }

    /** Of the step whose results are taken next. */
    private StepCompletion completion(Segment segment) {
        return slots.completion(segment.slot, segment.buffer);
    }

    /** Puts rows of a chunk in the next slot, of which there must be one, and asks for them. */
    void add(Chunk chunk, int firstRow, int rowCount) {
        if (underWay.size() == (headIsLent ? 1 : 0)) {
            progressed();
        }
        int slot = (int) (nextSequence % slots.count());
        Segment segment = new Segment(chunk, firstRow, rowCount, slot, nextSequence++);
        facts.write(chunk, firstRow, rowCount, slots.segmentAddress(slot), epoch, segment.sequence);
        slots.written(slot, facts.lengthBytes(rowCount));
        underWay.add(segment);
        segmentOfSlot[slot] = segment;
        postAgain(segment);
    }

    private long post(Segment segment, int buffer, boolean resume) {
        return lease.ring()
                .post(
                        new StepRing.Step(
                                plan,
                                segment.slot,
                                buffer,
                                resume,
                                epoch,
                                segment.sequence,
                                segment.firstRow,
                                facts.lengthBytes(segment.rowCount),
                                segment.chunk.partition(),
                                slots.completion(segment.slot, buffer)));
    }

    /** Takes back the buffer of the last batch, and with it the slot of a finished segment. */
    void releaseLent() {
        if (headIsLent) {
            slots.taken(underWay.remove().slot);
            headIsLent = false;
        }
    }

    /**
     * The next results, valid until the next call of {@link #releaseLent}; null where the kernel
     * has none ready.
     *
     * @throws GpuUnavailableException where the kernel stands still or is gone
     */
    ResultBatch poll() {
        Segment head = underWay.peek();
        if (head == null) {
            return null;
        }
        slots.advance();
        underWay.forEach(this::postAgain);
        lookAhead(head);
        if (!isDone(head)) {
            checkLiveness();
            return null;
        }
        groupsFull = completion(head).hasFullGroups();
        return groupsFull ? null : take(head);
    }

    /** Asks for a step that the ring had no entry for, or whose segment was not there. */
    private void postAgain(Segment segment) {
        if (segment.ticket == NOT_POSTED && slots.hasArrived(segment.slot)) {
            segment.ticket = post(segment, segment.buffer, segment.resume);
        }
    }

    /**
     * Looks at one segment under way, each in its turn: where its step is complete and not its last
     * one, the kernel may fill the other buffer, which nobody reads between two polls.
     */
    private void lookAhead(Segment head) {
        if (nextLook < head.sequence || nextLook >= nextSequence) {
            nextLook = head.sequence;
        }
        Segment segment = segmentOfSlot[(int) (nextLook++ % slots.count())];
        if (segment.nextTicket == NOT_POSTED && isDone(segment) && hasMore(segment)) {
            segment.nextTicket = post(segment, 1 - segment.buffer, true);
        }
    }

    private boolean hasMore(Segment segment) {
        StepCompletion completion = completion(segment);
        return completion.isOk() && completion.completedRows() < segment.rowCount;
    }

    private boolean isDone(Segment segment) {
        return isDone(segment.slot, segment.buffer, segment.ticket);
    }

    private boolean isDone(int slot, int buffer, long ticket) {
        return ticket != NOT_POSTED && slots.completion(slot, buffer).isOf(ticket);
    }

    private ResultBatch take(Segment head) {
        StepCompletion completion = completion(head);
        progressed();
        requireOk(completion, head);
        account(head);
        ResultBatch batch = batches[SegmentSlots.RESULT_BUFFERS * head.slot + head.buffer];
        batch.set(head.chunk, completion.rowCount(), head.firstRow + head.completedRows);
        if (head.completedRows == head.rowCount) {
            head.ticket = NOT_POSTED;
            headIsLent = true;
        } else {
            goOn(head);
        }
        return batch;
    }

    /** Moves a segment on to its next step, which is asked for unless it was before. */
    private void goOn(Segment segment) {
        segment.buffer = 1 - segment.buffer;
        segment.resume = true;
        segment.ticket = segment.nextTicket;
        segment.nextTicket = NOT_POSTED;
        postAgain(segment);
    }

    /** Takes a complete step to the account, and its entry of the ring back. */
    private void account(Segment segment) {
        lease.ring().release(segment.ticket);
        StepCompletion completion = completion(segment);
        int completedRows = completion.completedRows();
        sizer.gave(completedRows - segment.completedRows, completion.matchCount());
        segment.completedRows = completedRows;
        deviceBusyNs += completion.busyNs();
    }

    private void requireOk(StepCompletion completion, Segment segment) {
        if (!completion.isOk()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST,
                    "a segment arrives on the device as it was written: status="
                            + completion.status()
                            + ", sequence="
                            + segment.sequence);
        }
    }

    private void progressed() {
        lastLookNs = System.nanoTime();
        waitedNs = 0;
    }

    private void checkLiveness() {
        long sinceNs = System.nanoTime() - lastLookNs;
        if (sinceNs < LIVENESS_CHECK_NS) {
            return;
        }
        lease.requireRunning();
        if (pausesSeen != lease.pauses()) {
            pausesSeen = lease.pauses();
            progressed();
            return;
        }
        lastLookNs += sinceNs;
        // Behind a slow sink nobody looks for long; what was to be asked for then is asked for now.
        waitedNs += Math.min(sinceNs, stallTimeoutNs / LOOKS_BEFORE_STALL);
        if (waitedNs >= stallTimeoutNs) {
            // Others must not wait as long to learn the same.
            lease.lose();
            throw new GpuUnavailableException(
                    GpuFailure.KERNEL_STALLED,
                    "a step ends in time: waitedNs="
                            + waitedNs
                            + ", heartbeat="
                            + lease.heartbeat());
        }
    }

    /** Waits until neither the kernel nor a copy is at work on this engine's slots. */
    void awaitSteps() {
        progressed();
        while (!slots.isQuiet()) {
            checkLiveness();
            Thread.onSpinWait();
        }
        for (Segment segment : underWay) {
            awaitStep(segment.slot, segment.buffer, segment.ticket);
            awaitStep(segment.slot, 1 - segment.buffer, segment.nextTicket);
            segment.ticket = NOT_POSTED;
            segment.nextTicket = NOT_POSTED;
        }
    }

    private void awaitStep(int slot, int buffer, long ticket) {
        if (ticket == NOT_POSTED) {
            return;
        }
        while (!isDone(slot, buffer, ticket)) {
            checkLiveness();
            Thread.onSpinWait();
        }
        lease.ring().release(ticket);
    }
}
