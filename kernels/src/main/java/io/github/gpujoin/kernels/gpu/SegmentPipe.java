// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.region.Closing;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.ArrayDeque;
import org.jspecify.annotations.Nullable;

/**
 * The in-flight segments of one engine, first in, first out.
 *
 * <p>A segment takes one step for each result buffer that it fills. As soon as a step is complete,
 * the next step of that segment is posted into the other buffer, even if the segment is not the
 * oldest. The kernel therefore works while results are read or wait for earlier ones. Not
 * thread-safe.
 */
final class SegmentPipe {

    /** A range of rows that is read in place starts at a multiple of this. */
    static final int RANGE_ROWS = 64;

    private final DeviceLease lease;
    private final BusShares.Share share;
    private final int plan;
    private final SegmentSlots slots;
    private final FactSegments facts;
    private final SegmentSizer sizer;
    private final Segment[] segmentOfSlot;
    private final long epoch;
    private final StallDetector stall;
    private final ArrayDeque<Segment> inFlight = new ArrayDeque<>();
    private ResultFormat.Reader reader;
    private long nextSequence;
    private long nextCheck;
    private long deviceBusyNs;
    private volatile long copiedBytes;
    private boolean isHeadEmitted;
    private boolean groupsFull;

    /**
     * @param share of this engine
     * @param sizer receives the result count of each step
     */
    SegmentPipe(
            DeviceLease lease,
            BusShares.Share share,
            int plan,
            SegmentSlots slots,
            FactSegments facts,
            SegmentSizer sizer,
            ResultFormat.Reader reader,
            long stallTimeoutNs) {
        this.lease = lease;
        this.share = share;
        this.plan = plan;
        this.slots = slots;
        this.facts = facts;
        this.sizer = sizer;
        this.epoch = lease.nextEpoch();
        this.stall = new StallDetector(lease, stallTimeoutNs);
        this.segmentOfSlot = new Segment[slots.count()];
        this.reader = reader;
    }

    /** Reads results by another reader of the same format from now on. */
    void replaceReader(ResultFormat.Reader reader) {
        this.reader = reader;
    }

    /** Returns the device time of all completed steps, summed over blocks. */
    long deviceBusyNs() {
        return deviceBusyNs;
    }

    boolean hasRoom() {
        return !groupsFull && inFlight.size() < slots.count();
    }

    int inFlightCount() {
        return inFlight.size();
    }

    /** Returns whether the last batch was the last one of the oldest segment. */
    boolean isHeadEmitted() {
        return isHeadEmitted;
    }

    /**
     * Returns whether the oldest segment stopped because the table of groups is full. It continues
     * after {@link #resumeAfterDrain}.
     */
    boolean groupsFull() {
        return groupsFull;
    }

    /** Continues all segments that stopped because the table of groups was full. */
    void resumeAfterDrain() {
        groupsFull = false;
        for (Segment segment : inFlight) {
            if (isDone(segment) && completion(segment).hasFullGroups()) {
                account(segment);
                advance(segment);
            }
        }
        stall.markProgress();
    }

    /** Returns the completion of the step whose results are emitted next. */
    private StepCompletion completion(Segment segment) {
        return slots.completion(segment.slot, segment.buffer);
    }

    /** Copies rows of a chunk to the next slot, which must be free, and posts a step for them. */
    void add(Chunk chunk, int firstRow, int rowCount) {
        chunk.verify();
        long address = slots.segmentAddress(nextSlot());
        addCopied(
                chunk,
                firstRow,
                rowCount,
                facts.write(chunk, firstRow, rowCount, address, epoch, nextSequence));
    }

    /** Does the same with all rows of a chunk whose columns stay encoded. */
    void addEncoded(EncodedChunk chunk) {
        chunk.verify();
        long address = slots.segmentAddress(nextSlot());
        int lengthBytes = facts.writeEncoded(chunk, address, epoch, nextSequence);
        addCopied(chunk, 0, chunk.rowCount(), lengthBytes);
    }

    private void addCopied(Chunk chunk, int firstRow, int rowCount, int lengthBytes) {
        int slot = nextSlot();
        slots.written(slot, lengthBytes);
        copiedBytes += lengthBytes;
        add(new Segment(chunk, firstRow, rowCount, slot, nextSequence++, lengthBytes, null));
    }

    /**
     * Posts a step for rows of a chunk that the kernel reads in place. The next slot must be free.
     *
     * @param firstRow a multiple of {@link #RANGE_ROWS}
     * @param rowCount all rows if the chunk is encoded or its slot is not verified
     * @param deviceAddress of the chunk, whose slot this pipe retains until the last step ended
     */
    void addInPlace(Chunk chunk, int firstRow, int rowCount, long deviceAddress) {
        int readRows = chunk.slot().isVerified() ? rowCount : 0;
        add(
                new Segment(
                        chunk,
                        firstRow,
                        rowCount,
                        nextSlot(),
                        nextSequence++,
                        chunk.lengthBytes(),
                        new StepRing.InPlaceChunk(
                                deviceAddress,
                                chunk.rowCount(),
                                readRows,
                                chunk instanceof EncodedChunk)));
    }

    private int nextSlot() {
        return (int) (nextSequence % slots.count());
    }

    private void add(Segment segment) {
        if (inFlight.size() == (isHeadEmitted ? 1 : 0)) {
            stall.markProgress();
        }
        Segment last = inFlight.peekLast();
        inFlight.add(segment);
        segmentOfSlot[segment.slot] = segment;
        // Results leave in order, so a step does not overtake an older one that has to wait.
        if (last == null || !isDue(last)) {
            postAgain(segment);
        }
    }

    /** Returns the bytes that were copied to slots. Thread-safe. */
    long copiedBytes() {
        return copiedBytes;
    }

    /** Returns NOT_POSTED if the step must wait for other joins, or the ring is full. */
    private long post(Segment segment, int buffer, boolean resume) {
        // To look at the oldest step costs the device a cache line.
        BusShares.Bottleneck bottleneck =
                share.isAlone() ? BusShares.Bottleneck.FACTS : bottleneck();
        if (!share.mayPost(bottleneck)) {
            return Segment.NOT_POSTED;
        }
        return lease.ring()
                .post(
                        new StepRing.Step(
                                plan,
                                segment.slot,
                                buffer,
                                resume,
                                segment.epoch(epoch),
                                segment.headerSequence(),
                                segment.firstRow,
                                segment.lengthBytes,
                                segment.inPlace,
                                GridAllotment.partitionOf(segment.chunk),
                                slots.completion(segment.slot, buffer),
                                share,
                                bottleneck));
    }

    private BusShares.Bottleneck bottleneck() {
        if (isDone(inFlight.element())) {
            return BusShares.Bottleneck.READER;
        }
        return inFlight.size() == slots.count()
                ? BusShares.Bottleneck.DEVICE
                : BusShares.Bottleneck.FACTS;
    }

    /** Releases the buffer of the last batch, and the slot if its segment is finished. */
    void releaseBatch() {
        if (isHeadEmitted) {
            Segment emitted = inFlight.remove();
            if (emitted.inPlace == null) {
                slots.release(emitted.slot);
            }
            isHeadEmitted = false;
        }
    }

    /**
     * Returns the next results, valid until the next call of {@link #releaseBatch}; null if none
     * are ready.
     *
     * @throws GpuUnavailableException if the kernel has stalled or ended
     */
    @Nullable ResultBatch poll() {
        Segment head = inFlight.peek();
        if (head == null) {
            return null;
        }
        advance();
        if (!isDone(head)) {
            stall.check(isDue(head));
            return null;
        }
        groupsFull = completion(head).hasFullGroups();
        return groupsFull ? null : emit(head);
    }

    /** Posts the steps that are due, so that the kernel works while others' results are read. */
    void advance() {
        Segment head = inFlight.peek();
        if (head != null) {
            slots.advance();
            postAll();
            postAhead(head);
        }
    }

    /** Posts steps that are due, oldest first, up to the first one that must wait. */
    private void postAll() {
        for (Segment segment : inFlight) {
            if (isDue(segment)) {
                postAgain(segment);
                if (segment.ticket == Segment.NOT_POSTED) {
                    return;
                }
            }
        }
    }

    private boolean isDue(Segment segment) {
        boolean isFinished = isHeadEmitted && segment == inFlight.peek();
        return segment.ticket == Segment.NOT_POSTED
                && !isFinished
                && (segment.inPlace != null || slots.hasArrived(segment.slot));
    }

    /** Posts the step of a segment that is due; otherwise a later poll does. */
    private void postAgain(Segment segment) {
        if (isDue(segment)) {
            segment.ticket = post(segment, segment.buffer, segment.resume);
        }
    }

    /**
     * Checks one in-flight segment a call, round robin. If its step is complete but not its last,
     * posts the next step into the other buffer, which has no reader between two polls.
     */
    private void postAhead(Segment head) {
        if (nextCheck < head.sequence || nextCheck >= nextSequence) {
            nextCheck = head.sequence;
        }
        Segment segment = segmentOfSlot[(int) (nextCheck++ % slots.count())];
        if (segment.nextTicket == Segment.NOT_POSTED && isDone(segment) && hasMore(segment)) {
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
        return ticket != Segment.NOT_POSTED && slots.completion(slot, buffer).isOf(ticket);
    }

    private ResultBatch emit(Segment head) {
        StepCompletion completion = completion(head);
        stall.markProgress();
        requireOk(completion, head);
        int firstRow = head.firstRow + head.completedRows;
        account(head);
        ResultBatch batch =
                reader.read(
                        slots.resultAddress(head.slot, head.buffer),
                        head.chunk,
                        firstRow,
                        completion.rowCount(),
                        head.firstRow + head.completedRows);
        if (head.completedRows == head.rowCount) {
            head.ticket = Segment.NOT_POSTED;
            head.releaseChunk();
            isHeadEmitted = true;
        } else {
            advance(head);
        }
        return batch;
    }

    /** Advances a segment to its next step, and posts that step unless {@link #postAhead} has. */
    private void advance(Segment segment) {
        segment.buffer = 1 - segment.buffer;
        segment.resume = true;
        segment.ticket = segment.nextTicket;
        segment.nextTicket = Segment.NOT_POSTED;
        postAgain(segment);
    }

    /** Accounts for a complete step and releases its ring entry. */
    private void account(Segment segment) {
        lease.ring().release(segment.ticket);
        StepCompletion completion = completion(segment);
        int completedRows = completion.completedRows();
        sizer.completed(completedRows - segment.completedRows, completion.matchCount());
        segment.completedRows = completedRows;
        deviceBusyNs += completion.busyNs();
    }

    private void requireOk(StepCompletion completion, Segment segment) {
        if (completion.hasBadEncoding()) {
            segment.requireIntact();
            throw new ChunkFormatException(
                    "Encoded column of a chunk is damaged: sequence=" + segment.headerSequence());
        }
        if (!completion.isOk()) {
            throw new GpuUnavailableException(
                    GpuFailure.DEVICE_LOST,
                    "Segment corrupted on the device: status="
                            + completion.status()
                            + ", sequence="
                            + segment.sequence);
        }
    }

    /** Waits until neither the kernel nor a copy uses the slots of this engine. */
    void awaitSteps() {
        stall.markProgress();
        while (!slots.isQuiet()) {
            stall.check(false);
            Thread.onSpinWait();
        }
        for (Segment segment : inFlight) {
            awaitStep(segment.slot, segment.buffer, segment.ticket);
            awaitStep(segment.slot, 1 - segment.buffer, segment.nextTicket);
            segment.ticket = Segment.NOT_POSTED;
            segment.nextTicket = Segment.NOT_POSTED;
        }
    }

    /**
     * Releases all chunks, even if the release of one fails. No step uses them, or the device is
     * lost, and then keeps their memory.
     */
    void releaseChunks() {
        Closing.all(inFlight, Segment::releaseChunk);
    }

    private void awaitStep(int slot, int buffer, long ticket) {
        if (ticket == Segment.NOT_POSTED) {
            return;
        }
        while (!isDone(slot, buffer, ticket)) {
            stall.check(false);
            Thread.onSpinWait();
        }
        lease.ring().release(ticket);
    }
}
