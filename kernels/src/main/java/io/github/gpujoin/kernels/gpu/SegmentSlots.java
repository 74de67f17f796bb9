// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kernels.binding.CudaDriver;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * The probe memory of one engine: slots of one segment each, with two result buffers a slot, so
 * that one is filled while the other is read.
 *
 * <pre>
 *  mapped host memory:  segment[slots]
 *                       result buffer 0 and 1 of slot 0, of slot 1, ...
 *                       completion   0 and 1 of slot 0, of slot 1, ...
 *  device memory:       segment[slots] as copied for the kernel, if the ring is in device memory
 *                       segment[slots] as verified by the kernel
 *                       progress[slots]
 * </pre>
 */
final class SegmentSlots {

    static final int RESULT_BUFFERS = 2;

    private final int slots;
    private final long segmentBytes;
    private final long resultBytes;
    private final int capacityRows;
    private final long segments;
    private final long ring;
    private final long results;
    private final StepCompletion[] completions;
    private final long scratch;
    private final long progress;

    /** Null if the kernel reads the pinned slots directly. */
    private final @Nullable SegmentCopies copies;

    /**
     * Allocates all memory. Call it while the serving kernel is stopped.
     *
     * @param driver copies segments to a ring in device memory
     */
    SegmentSlots(
            CudaDriver driver,
            Buffers buffers,
            RingMemory ringMemory,
            int slots,
            int segmentBytes,
            ResultFormat format) {
        this.slots = slots;
        this.segmentBytes = segmentBytes;
        this.resultBytes = format.bufferBytes();
        this.capacityRows = format.capacityRows();
        this.segments = buffers.pinned(slots * this.segmentBytes);
        if (ringMemory == RingMemory.DEVICE) {
            this.ring = buffers.device(slots * this.segmentBytes);
            this.copies = new SegmentCopies(driver, segments, ring, slots, this.segmentBytes);
        } else {
            this.ring = segments;
            this.copies = null;
        }
        this.results = buffers.pinned(RESULT_BUFFERS * slots * resultBytes);
        this.completions = new StepCompletion[RESULT_BUFFERS * slots];
        long completionsBytes = (long) completions.length * StepDescriptor.COMPLETION_BYTES;
        long firstCompletion = buffers.pinned(completionsBytes);
        this.scratch = buffers.device(slots * this.segmentBytes);
        this.progress = buffers.device((long) slots * PlanDescriptor.PROGRESS_BYTES);
        Memory.fill(null, firstCompletion, completionsBytes, (byte) 0);
        Arrays.setAll(
                completions,
                i ->
                        new StepCompletion(
                                firstCompletion + (long) i * StepDescriptor.COMPLETION_BYTES));
    }

    int count() {
        return slots;
    }

    /** Returns the address to which the host writes the segment of a slot. */
    long segmentAddress(int slot) {
        return segments + slot * segmentBytes;
    }

    /**
     * Makes a segment available that was written to its slot. The slot must not be in flight.
     *
     * @throws GpuUnavailableException if the driver cannot start its copy
     */
    void written(int slot, int lengthBytes) {
        if (copies != null) {
            copies.written(slot, lengthBytes);
        }
    }

    /** Frees a slot whose last results have been read. */
    void release(int slot) {
        if (copies != null) {
            copies.release(slot);
        }
    }

    /**
     * Advances the copies of segments to the device, see {@link SegmentCopies#advance}.
     *
     * @throws GpuUnavailableException if a driver call fails
     */
    void advance() {
        if (copies != null) {
            copies.advance();
        }
    }

    /** Returns whether the kernel can read the segment that was written to a slot. */
    boolean hasArrived(int slot) {
        return copies == null || copies.hasArrived(slot);
    }

    /** Returns whether no copy to these slots is in flight. */
    boolean isQuiet() {
        return copies == null || copies.isQuiet();
    }

    long resultAddress(int slot, int buffer) {
        return results + (RESULT_BUFFERS * slot + buffer) * resultBytes;
    }

    StepCompletion completion(int slot, int buffer) {
        return completions[RESULT_BUFFERS * slot + buffer];
    }

    /**
     * Writes the slot fields of a Plan.
     *
     * @param countOnly whether matches are counted instead of written
     */
    void writePlan(long plan, boolean countOnly) {
        Memory.putLong(plan + PlanDescriptor.PLAN_SEGMENTS_OFFSET, ring);
        Memory.putLong(plan + PlanDescriptor.PLAN_SCRATCH_OFFSET, scratch);
        Memory.putLong(plan + PlanDescriptor.PLAN_RESULTS_OFFSET, results);
        Memory.putLong(plan + PlanDescriptor.PLAN_COMPLETIONS_OFFSET, completions[0].address());
        Memory.putLong(plan + PlanDescriptor.PLAN_PROGRESS_OFFSET, progress);
        Memory.putLong(plan + PlanDescriptor.PLAN_SEGMENT_BYTES_OFFSET, segmentBytes);
        Memory.putLong(plan + PlanDescriptor.PLAN_RESULT_BYTES_OFFSET, resultBytes);
        Memory.putInt(
                plan + PlanDescriptor.PLAN_CAPACITY_ROWS_OFFSET, countOnly ? 0 : capacityRows);
    }
}
