// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
 * Outcome of a step, written by the kernel to mapped host memory. Once {@link #isOf} has returned
 * true, the other fields belong to that step until its result buffer is posted again.
 */
record StepCompletion(long address) {

    /** Returns whether the step with this ticket is complete. */
    boolean isOf(long ticket) {
        // acquire: the other fields, and the results, are read after the sequence was seen
        return Memory.getLongAcquire(null, address + COMPLETION_SEQUENCE_OFFSET) == ticket + 1;
    }

    boolean isOk() {
        return status() == StepDescriptor.STATUS_OK;
    }

    /** Returns whether the step stopped because the table of groups is full. */
    boolean hasFullGroups() {
        return status() == StepDescriptor.STATUS_GROUPS_FULL;
    }

    /** Returns whether the entry, codes or runs of an encoded column are wrong. */
    boolean hasBadEncoding() {
        return status() == StepDescriptor.STATUS_BAD_ENCODING;
    }

    int status() {
        return Memory.getInt(address + COMPLETION_STATUS_OFFSET);
    }

    /** Returns the rows in the result buffer. */
    int rowCount() {
        return Memory.getInt(address + COMPLETION_ROW_COUNT_OFFSET);
    }

    /** Returns the rows of the segment whose results are complete, in this step or before. */
    int completedRows() {
        return Memory.getInt(address + COMPLETION_COMPLETED_ROWS_OFFSET);
    }

    /** Returns the results counted, written or aggregated in this step. */
    long matchCount() {
        return Memory.getLong(address + COMPLETION_MATCH_COUNT_OFFSET);
    }

    /** Returns the number of the thread block that ran the step. */
    int block() {
        return Memory.getInt(address + COMPLETION_BLOCK_OFFSET);
    }

    /** Returns when the step was claimed, on the clock of the device. */
    long startedNs() {
        return Memory.getLong(address + COMPLETION_STARTED_NS_OFFSET);
    }

    /** Returns the device time of the step. */
    long busyNs() {
        return Memory.getLong(address + COMPLETION_BUSY_NS_OFFSET);
    }
}
