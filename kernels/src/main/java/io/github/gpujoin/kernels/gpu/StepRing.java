// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_PUBLISHED_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_BASE_ROW_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_BYTES;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_CHUNK_IS_ENCODED_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_CHUNK_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_CHUNK_READ_ROWS_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_CHUNK_ROW_COUNT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_EPOCH_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_LENGTH_BYTES_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_PLAN_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_RESULT_BUFFER_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_RESUME_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SEGMENT_SEQUENCE_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SEQUENCE_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SLOT_OFFSET;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The host end of the step ring, through which all engines of a device post steps to its kernel, in
 * order.
 *
 * <p>Tickets number the steps from 0; ticket t is in entry t mod {@link #ENTRIES}. An entry is free
 * when its step is complete, so no entry is overwritten that a block may still read. The poster
 * checks the completion of the previous step itself: an engine that does not poll, for example
 * under backpressure, must not block other engines. Thread-safe.
 */
final class StepRing {

    static final int ENTRIES = 4096;

    /** Bytes of the ring: the entries, then one byte for the lane of each entry. */
    static final long LENGTH_BYTES = (long) ENTRIES * (STEP_BYTES + Byte.BYTES);

    private static final long FREE = -1;

    private final long control;
    private final long address;
    private final GridAllotment allotment;
    private final long[] ticketOfEntry = new long[ENTRIES];
    private final StepCompletion[] completionOfEntry = new StepCompletion[ENTRIES];
    private final byte[] laneOfEntry = new byte[ENTRIES];
    private final int[] bytesOfEntry = new int[ENTRIES];
    private final BusShares.Share[] shareOfEntry = new BusShares.Share[ENTRIES];
    private final BusShares shares = new BusShares(System::nanoTime, this::countOutCompleted);
    private final long[] laneSteps;
    private final long[] laneBusyNs;
    private long nextTicket;

    /** No step before this ticket is in flight. */
    private long oldestInFlight;

    /** Written under the lock, read by any thread: a count that only grows needs no order. */
    private volatile long completedCount;

    /**
     * One step of one probe slot.
     *
     * @param resume whether to continue where the last step of the slot stopped
     * @param baseRow offset added to segment rows in results
     * @param lengthBytes of the segment or chunk
     * @param inPlace the chunk that the kernel reads in place; null if it reads the slot's segment
     * @param partition of the rows of the segment
     * @param completion used by this step alone until it is released
     * @param share of the engine, which allowed the step
     * @param bottleneck of the engine with this step
     */
    record Step(
            int plan,
            int slot,
            int resultBuffer,
            boolean resume,
            long epoch,
            long segmentSequence,
            int baseRow,
            int lengthBytes,
            @Nullable InPlaceChunk inPlace,
            int partition,
            StepCompletion completion,
            BusShares.Share share,
            BusShares.Bottleneck bottleneck) {

        /**
         * Returns the bytes that a step counts: those of its segment, or of the rows that it reads
         * of a chunk. A step that continues a segment counts the same, since it fills a result
         * buffer.
         */
        private int countedBytes() {
            if (inPlace == null || inPlace.readRows == 0) {
                return lengthBytes;
            }
            return (int) ((long) lengthBytes * inPlace.readRows / inPlace.rowCount);
        }
    }

    /**
     * A chunk that the kernel reads where it is.
     *
     * @param deviceAddress of its header
     * @param rowCount of the chunk
     * @param readRows rows to read, from the step's base row on; 0 for all of a chunk whose
     *     checksum the kernel verifies, since its bytes may not have arrived
     * @param isEncoded whether its columns are encoded; then all rows are read
     */
    record InPlaceChunk(long deviceAddress, int rowCount, int readRows, boolean isEncoded) {}

    /**
     * @param control address of the Control words
     * @param address of {@link #LENGTH_BYTES} bytes of mapped host memory
     */
    StepRing(long control, long address, GridAllotment allotment) {
        this.control = control;
        this.address = address;
        this.allotment = allotment;
        this.laneSteps = new long[allotment.lanes()];
        this.laneBusyNs = new long[allotment.lanes()];
        Arrays.fill(ticketOfEntry, FREE);
    }

    /** Returns the shares of the joins that post steps. */
    BusShares shares() {
        return shares;
    }

    /**
     * Publishes a step that its engine {@linkplain BusShares.Share#mayPost may post}.
     *
     * @return its ticket, or -1 if the ring is full
     */
    synchronized long post(Step step) {
        int index = (int) (nextTicket % ENTRIES);
        long before = ticketOfEntry[index];
        if (before != FREE && !completionOfEntry[index].isOf(before)) {
            step.share.waits(step.bottleneck);
            return -1;
        }
        free(index);
        int lane = allotment.laneOf(step.partition, step.segmentSequence);
        ticketOfEntry[index] = nextTicket;
        completionOfEntry[index] = step.completion;
        laneOfEntry[index] = (byte) lane;
        long entry = address + (long) index * STEP_BYTES;
        Memory.putLong(entry + STEP_SEQUENCE_OFFSET, nextTicket + 1);
        Memory.putInt(entry + STEP_PLAN_OFFSET, step.plan);
        Memory.putInt(entry + STEP_SLOT_OFFSET, step.slot);
        Memory.putInt(entry + STEP_RESULT_BUFFER_OFFSET, step.resultBuffer);
        Memory.putShort(null, entry + STEP_RESUME_OFFSET, (short) (step.resume ? 1 : 0));
        Memory.putLong(entry + STEP_EPOCH_OFFSET, step.epoch);
        Memory.putLong(entry + STEP_SEGMENT_SEQUENCE_OFFSET, step.segmentSequence);
        Memory.putInt(entry + STEP_BASE_ROW_OFFSET, step.baseRow);
        Memory.putInt(entry + STEP_LENGTH_BYTES_OFFSET, step.lengthBytes);
        InPlaceChunk chunk = step.inPlace;
        boolean isEncoded = chunk != null && chunk.isEncoded;
        Memory.putShort(null, entry + STEP_CHUNK_IS_ENCODED_OFFSET, (short) (isEncoded ? 1 : 0));
        Memory.putLong(entry + STEP_CHUNK_OFFSET, chunk == null ? 0 : chunk.deviceAddress);
        if (chunk != null) {
            Memory.putInt(entry + STEP_CHUNK_ROW_COUNT_OFFSET, chunk.rowCount);
            Memory.putInt(entry + STEP_CHUNK_READ_ROWS_OFFSET, chunk.readRows);
        }
        Memory.putByte(null, address + (long) ENTRIES * STEP_BYTES + index, (byte) lane);
        // release: the entry and its segment are written before it is published
        Memory.putLongRelease(null, control + CONTROL_PUBLISHED_OFFSET, nextTicket + 1);
        int countedBytes = step.countedBytes();
        bytesOfEntry[index] = countedBytes;
        shareOfEntry[index] = step.share;
        allotment.count(lane, countedBytes);
        step.share.posted(countedBytes, step.bottleneck);
        return nextTicket++;
    }

    /** Releases a completed step. Required before its completion is used again. */
    synchronized void release(long ticket) {
        int index = (int) (ticket % ENTRIES);
        if (ticketOfEntry[index] == ticket) {
            free(index);
        }
    }

    private void free(int index) {
        if (ticketOfEntry[index] != FREE) {
            int lane = laneOfEntry[index];
            laneSteps[lane]++;
            laneBusyNs[lane] += completionOfEntry[index].busyNs();
            countOut(index);
            ticketOfEntry[index] = FREE;
        }
    }

    private void countOut(int index) {
        BusShares.Share share = shareOfEntry[index];
        if (share != null) {
            share.completed(bytesOfEntry[index]);
            shareOfEntry[index] = null;
            completedCount = completedCount + 1;
        }
    }

    /**
     * Counts out the steps that are complete. Their engines do so only in the order of their
     * segments: those behind a segment whose next step has to wait would count for ever.
     */
    private synchronized void countOutCompleted() {
        boolean isOldest = true;
        for (long ticket = oldestInFlight; ticket < nextTicket; ticket++) {
            int index = (int) (ticket % ENTRIES);
            boolean isInFlight = ticketOfEntry[index] == ticket && shareOfEntry[index] != null;
            if (isInFlight && completionOfEntry[index].isOf(ticket)) {
                countOut(index);
                isInFlight = false;
            }
            isOldest &= !isInFlight;
            if (isOldest) {
                oldestInFlight = ticket + 1;
            }
        }
    }

    /** Returns the number of steps that were seen to be complete. Takes no lock. */
    long completedCount() {
        return completedCount;
    }

    /** Assigns blocks by what a subtask builds, before its facts arrive. */
    synchronized void expect(BuildShare share) {
        allotment.expect(share);
    }

    /** Returns the load of each lane so far. */
    synchronized List<LaneLoad> laneLoads() {
        List<LaneLoad> loads = new ArrayList<>();
        for (int lane = 0; lane < laneSteps.length; lane++) {
            loads.add(new LaneLoad(allotment.blocksOf(lane), laneSteps[lane], laneBusyNs[lane]));
        }
        return loads;
    }
}
