package io.github.gpujoin.flink.exchange.ring;

import java.util.UUID;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/**
 * One attempt of a sending subtask to its coordinator: by this number it will ask where to write.
 *
 * <p>Events come from tasks alone, while requests may also come through Flink's REST interface; so
 * a request is answered only where an event has told its number.
 *
 * @param number random, of this attempt alone
 */
record WriterReady(UUID number) implements OperatorEvent {

    private static final long serialVersionUID = 1L;

    @Override
    public String toString() {
        return "WriterReady"; // the number is a secret
    }
}
