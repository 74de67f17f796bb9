// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

/**
 * Offsets of the structs that host and serving kernel exchange, all in mapped host memory. {@code
 * layout.h} draws the structs and has the same offsets.
 *
 * <ul>
 *   <li>step: an entry of the step ring, which requests one step of one probe slot
 *   <li>completion: the outcome of the step, one for each result buffer
 *   <li>control: the words that blocks poll
 * </ul>
 */
final class StepDescriptor {

    static final int STEP_BYTES = 64;
    static final int STEP_SEQUENCE_OFFSET = 0;
    static final int STEP_PLAN_OFFSET = 8;
    static final int STEP_SLOT_OFFSET = 12;
    static final int STEP_RESULT_BUFFER_OFFSET = 16;
    static final int STEP_RESUME_OFFSET = 20;
    static final int STEP_CHUNK_IS_ENCODED_OFFSET = 22;
    static final int STEP_EPOCH_OFFSET = 24;
    static final int STEP_SEGMENT_SEQUENCE_OFFSET = 32;
    static final int STEP_BASE_ROW_OFFSET = 40;
    static final int STEP_LENGTH_BYTES_OFFSET = 44;
    static final int STEP_CHUNK_OFFSET = 48;
    static final int STEP_CHUNK_ROW_COUNT_OFFSET = 56;
    static final int STEP_CHUNK_READ_ROWS_OFFSET = 60;

    static final int COMPLETION_BYTES = 64;
    static final int COMPLETION_SEQUENCE_OFFSET = 0;
    static final int COMPLETION_STATUS_OFFSET = 8;
    static final int COMPLETION_ROW_COUNT_OFFSET = 12;
    static final int COMPLETION_COMPLETED_ROWS_OFFSET = 16;
    static final int COMPLETION_BLOCK_OFFSET = 20;
    static final int COMPLETION_MATCH_COUNT_OFFSET = 24;
    static final int COMPLETION_BUSY_NS_OFFSET = 32;
    static final int COMPLETION_STARTED_NS_OFFSET = 40;

    static final int CONTROL_PUBLISHED_OFFSET = 0;
    static final int CONTROL_STOP_OFFSET = 8;
    static final int CONTROL_ALLOTMENT_OFFSET = 12;
    static final int CONTROL_HEARTBEAT_OFFSET = 64;
    static final int CONTROL_LANE_OF_OFFSET = 128;

    /** Bytes of the state of the kernel in device memory, initially zero. */
    static final int GRID_BYTES = 8320;

    /** Status of a successful step. */
    static final int STATUS_OK = 0;

    /** Status of a step that stopped because the table of groups is full. */
    static final int STATUS_GROUPS_FULL = 3;

    /** Status of a step that found wrong codes or runs in an encoded column. */
    static final int STATUS_BAD_ENCODING = 4;

    private StepDescriptor() {}
}
