package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.CONTROL_PUBLISHED_OFFSET;
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
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The host's end of the step ring: what all engines of a device ask of its kernel, in order.
 *
 * <p>Tickets number the steps from 0; ticket t stands in entry t mod {@link #ENTRIES}. An entry is
 * free again when its step is complete, so that no entry is overwritten that a block may still
 * read. Whoever needs the entry looks at the completion itself: an engine that does not poll, as
 * behind a slow sink, must not stop the others. Thread-safe.
 */
final class StepRing {

    static final int ENTRIES = 4096;

    /** The entries, then the lane of each one's step, a byte each. */
    static final long LENGTH_BYTES = (long) ENTRIES * (STEP_BYTES + Byte.BYTES);

    private static final long FREE = -1;

    private final long control;
    private final long address;
    private final GridAllotment allotment;
    private final long[] ticketOfEntry = new long[ENTRIES];
    private final StepCompletion[] completionOfEntry = new StepCompletion[ENTRIES];
    private final byte[] laneOfEntry = new byte[ENTRIES];
    private final long[] laneSteps;
    private final long[] laneBusyNs;
    private long nextTicket;

    /**
     * One step of one probe slot.
     *
     * @param resume whether it goes on where the slot's last step stopped
     * @param baseRow what results add to a row of the segment
     * @param lengthBytes of the segment
     * @param partition of the segment's rows
     * @param completion of this step alone until it is released
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
            int partition,
            StepCompletion completion) {}

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

    /**
     * Publishes a step.
     *
     * @return its ticket, or -1 where the ring is full
     */
    synchronized long post(Step step) {
        int index = (int) (nextTicket % ENTRIES);
        long before = ticketOfEntry[index];
        if (before != FREE && !completionOfEntry[index].isOf(before)) {
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
        Memory.putInt(entry + STEP_RESUME_OFFSET, step.resume ? 1 : 0);
        Memory.putLong(entry + STEP_EPOCH_OFFSET, step.epoch);
        Memory.putLong(entry + STEP_SEGMENT_SEQUENCE_OFFSET, step.segmentSequence);
        Memory.putInt(entry + STEP_BASE_ROW_OFFSET, step.baseRow);
        Memory.putInt(entry + STEP_LENGTH_BYTES_OFFSET, step.lengthBytes);
        Memory.putByte(null, address + (long) ENTRIES * STEP_BYTES + index, (byte) lane);
        // release: the entry and the segment it speaks of are written before it is published
        Memory.putLongRelease(null, control + CONTROL_PUBLISHED_OFFSET, nextTicket + 1);
        allotment.count(lane, step.lengthBytes);
        return nextTicket++;
    }

    /** Lets go of a step whose completion was seen, before its completion is used again. */
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
            ticketOfEntry[index] = FREE;
        }
    }

    /** What each lane has taken of the kernel so far. */
    synchronized List<LaneLoad> laneLoads() {
        List<LaneLoad> loads = new ArrayList<>();
        for (int lane = 0; lane < laneSteps.length; lane++) {
            loads.add(new LaneLoad(allotment.blocksOf(lane), laneSteps[lane], laneBusyNs[lane]));
        }
        return loads;
    }
}
