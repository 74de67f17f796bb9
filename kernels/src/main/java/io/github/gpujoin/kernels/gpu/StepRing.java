package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_BASE_ROW_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_BYTES;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_EPOCH_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_LENGTH_BYTES_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_PLAN_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_RESULT_BUFFER_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_RESUME_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SEGMENT_SEQUENCE_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SEQUENCE_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.STEP_SLOT_OFFSET;

import io.github.gpujoin.core.region.Memory;

/**
 * The host's end of the step ring: what all engines of a device ask of its kernel, in order.
 *
 * <p>Tickets number the steps from 0; ticket t stands in entry t mod {@link #ENTRIES}. An entry is
 * free again when its step's completion was seen, so that no entry is overwritten that a block may
 * still read. Thread-safe.
 */
final class StepRing {

    static final int ENTRIES = 4096;
    static final long LENGTH_BYTES = (long) ENTRIES * STEP_BYTES;

    private final long address;
    private final boolean[] taken = new boolean[ENTRIES];
    private long nextTicket;

    /**
     * @param address of {@link #LENGTH_BYTES} zero bytes of mapped host memory
     */
    StepRing(long address) {
        this.address = address;
    }

    /**
     * Publishes a step.
     *
     * @return its ticket, or -1 where the ring is full
     */
    synchronized long post(
            int plan,
            int slot,
            int resultBuffer,
            boolean resume,
            long epoch,
            long segmentSequence,
            int baseRow,
            int lengthBytes) {
        int index = (int) (nextTicket % ENTRIES);
        if (taken[index]) {
            return -1;
        }
        taken[index] = true;
        long entry = address + (long) index * STEP_BYTES;
        Memory.putInt(entry + STEP_PLAN_OFFSET, plan);
        Memory.putInt(entry + STEP_SLOT_OFFSET, slot);
        Memory.putInt(entry + STEP_RESULT_BUFFER_OFFSET, resultBuffer);
        Memory.putInt(entry + STEP_RESUME_OFFSET, resume ? 1 : 0);
        Memory.putLong(entry + STEP_EPOCH_OFFSET, epoch);
        Memory.putLong(entry + STEP_SEGMENT_SEQUENCE_OFFSET, segmentSequence);
        Memory.putInt(entry + STEP_BASE_ROW_OFFSET, baseRow);
        Memory.putInt(entry + STEP_LENGTH_BYTES_OFFSET, lengthBytes);
        // release: the entry and the segment it speaks of are written before it is published
        OrderedMemory.putLongRelease(entry + STEP_SEQUENCE_OFFSET, nextTicket + 1);
        return nextTicket++;
    }

    /** Frees the entry of a step whose completion was seen. */
    synchronized void release(long ticket) {
        taken[(int) (ticket % ENTRIES)] = false;
    }
}
