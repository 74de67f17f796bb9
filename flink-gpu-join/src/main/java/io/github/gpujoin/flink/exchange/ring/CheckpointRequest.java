package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;

/**
 * Asks the join's coordinator for the next checkpoint that begins; answered when it does.
 *
 * @param asker one attempt of the subtask
 * @param after the last checkpoint that the asker knows of
 */
record CheckpointRequest(UUID asker, int subtask, long after) implements CoordinationRequest {

    private static final long serialVersionUID = 1L;
}
