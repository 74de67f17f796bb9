package io.github.gpujoin.flink.exchange.ring;

import java.io.IOException;
import java.io.Serializable;
import java.io.UncheckedIOException;
import java.util.List;
import org.apache.flink.api.common.typeutils.base.array.BytePrimitiveArraySerializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.apache.flink.util.InstantiationUtil;

/** A coordinator to one attempt of a sending subtask: where it may write, and by which tokens. */
final class WriterAddresses implements Serializable {

    /** Not all of them are known yet. */
    static final WriterAddresses NONE = new WriterAddresses(List.of());

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

    /**
     * In a class of Flink's own: what reads responses off the network knows no class of a job's
     * jar.
     */
    CoordinationResponse toResponse() {
        try {
            DataOutputSerializer out = new DataOutputSerializer(256);
            BytePrimitiveArraySerializer.INSTANCE.serialize(
                    InstantiationUtil.serializeObject(this), out);
            return new CollectCoordinationResponse("", 0, List.of(out.getCopyOfBuffer()));
        } catch (IOException e) {
            throw new UncheckedIOException("addresses are written to memory", e);
        }
    }

    /**
     * What {@link #toResponse} gave.
     *
     * @throws IOException where it is something else
     */
    static WriterAddresses of(CoordinationResponse response) throws IOException {
        List<byte[]> results =
                response instanceof CollectCoordinationResponse collected
                        ? collected.getResults(BytePrimitiveArraySerializer.INSTANCE)
                        : List.of();
        if (results.size() != 1) {
            throw new IOException("a sender is told addresses alone: response=" + response);
        }
        try {
            return InstantiationUtil.deserializeObject(
                    results.get(0), WriterAddresses.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IOException("a sender is told addresses alone: response=" + response, e);
        }
    }

    @Override
    public String toString() {
        return targets.toString();
    }
}
