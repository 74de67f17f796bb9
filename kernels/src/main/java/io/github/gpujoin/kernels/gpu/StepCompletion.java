package io.github.gpujoin.kernels.gpu;

import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_BLOCK_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_BUSY_NS_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_COMPLETED_ROWS_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_MATCH_COUNT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_ROW_COUNT_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_SEQUENCE_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_STARTED_NS_OFFSET;
import static io.github.gpujoin.kernels.gpu.StepDescriptor.COMPLETION_STATUS_OFFSET;

import io.github.gpujoin.core.region.Memory;

/**
 * Where the kernel says what became of a step, in mapped host memory. Fields but the first are of
 * the step for which {@link #isOf} was seen to be true, until that memory is given to another one.
 */
record StepCompletion(long address) {

    /** Whether the step with this ticket is complete. */
    boolean isOf(long ticket) {
        // acquire: the other fields, and the results, are read after the sequence was seen
        return Memory.getLongAcquire(null, address + COMPLETION_SEQUENCE_OFFSET) == ticket + 1;
    }

    boolean isOk() {
        return status() == StepDescriptor.STATUS_OK;
    }

    /** Whether the step stopped where the groups are to be taken first. */
    boolean hasFullGroups() {
        return status() == StepDescriptor.STATUS_GROUPS_FULL;
    }

    int status() {
        return Memory.getInt(address + COMPLETION_STATUS_OFFSET);
    }

    /** Rows in the result buffer. */
    int rowCount() {
        return Memory.getInt(address + COMPLETION_ROW_COUNT_OFFSET);
    }

    /** Rows of the segment that gave all their results, in this step or before. */
    int completedRows() {
        return Memory.getInt(address + COMPLETION_COMPLETED_ROWS_OFFSET);
    }

    /** Results counted, written or added up in this step. */
    long matchCount() {
        return Memory.getLong(address + COMPLETION_MATCH_COUNT_OFFSET);
    }

    /** Thread block that ran the step. */
    int block() {
        return Memory.getInt(address + COMPLETION_BLOCK_OFFSET);
    }

    /** On the device's clock. */
    long startedNs() {
        return Memory.getLong(address + COMPLETION_STARTED_NS_OFFSET);
    }

    /** Device time that the step took. */
    long busyNs() {
        return Memory.getLong(address + COMPLETION_BUSY_NS_OFFSET);
    }
}
