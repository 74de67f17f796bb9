package io.github.gpujoin.flink.transport;

import java.io.Serializable;
import java.util.List;
import org.apache.flink.runtime.operators.coordination.OperatorEvent;

/** A coordinator to one attempt of a sending subtask: where it may write, and by which tokens. */
final class WriterAddresses implements OperatorEvent {

    private static final long serialVersionUID = 1L;

    /**
     * @param token of {@link io.github.gpujoin.rdma.session.AttemptToken}, 32 bytes
     */
    record Target(String host, int port, byte[] token) implements Serializable {

        @Override
        public String toString() {
            return host + ":" + port;
        }
    }

    private final List<Target> targets;

    /**
     * @param targets of each subtask of the join, in their order
     */
    WriterAddresses(List<Target> targets) {
        this.targets = List.copyOf(targets);
    }

    List<Target> targets() {
        return targets;
    }

    @Override
    public String toString() {
        return targets.toString();
    }
}
