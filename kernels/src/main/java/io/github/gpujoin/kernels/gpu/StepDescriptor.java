package io.github.gpujoin.kernels.gpu;

/**
 * Byte layouts of the words between the host and the serving kernel, all in mapped host memory:
 * drawn in {@code layout.h}, which has the same offsets.
 *
 * <ul>
 *   <li>step: an entry of the step ring, by which the host asks for one step of one probe slot
 *   <li>completion: what became of the step, one for each result buffer
 *   <li>control: the words that blocks look at
 * </ul>
 */
final class StepDescriptor {

    static final int STEP_BYTES = 64;
    static final int STEP_SEQUENCE_OFFSET = 0;
    static final int STEP_PLAN_OFFSET = 8;
    static final int STEP_SLOT_OFFSET = 12;
    static final int STEP_RESULT_BUFFER_OFFSET = 16;
    static final int STEP_RESUME_OFFSET = 20;
    static final int STEP_EPOCH_OFFSET = 24;
    static final int STEP_SEGMENT_SEQUENCE_OFFSET = 32;
    static final int STEP_BASE_ROW_OFFSET = 40;
    static final int STEP_LENGTH_BYTES_OFFSET = 44;

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

    /** State of the kernel in device memory, all zero at first. */
    static final int GRID_BYTES = 8320;

    /** Status of a step that went well. */
    static final int STATUS_OK = 0;

    /** Status of a step that stopped where the groups are to be taken first. */
    static final int STATUS_GROUPS_FULL = 3;

    private StepDescriptor() {}
}
