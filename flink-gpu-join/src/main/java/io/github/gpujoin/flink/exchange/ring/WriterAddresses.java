// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
import org.jspecify.annotations.Nullable;

/**
 * Answer of a coordinator to one attempt of a sending subtask: the addresses of the join's rings
 * and the tokens to open them.
 */
final class WriterAddresses implements Serializable {

    /** Answer to a request that the coordinator does not serve; the sender repeats it. */
    static final WriterAddresses NONE = new WriterAddresses(List.of());

    private static final long serialVersionUID = 1L;

    /**
     * Addresses of one subtask of the join.
     *
     * @param own of the ring to it alone, or null if it has none
     * @param shared of the ring to all subtasks of its TaskManager, or null if it shares none
     */
    record Target(@Nullable Endpoint own, @Nullable Endpoint shared) implements Serializable {}

    private final List<Target> targets;

    /**
     * @param targets by subtask of the join
     */
    WriterAddresses(List<Target> targets) {
        this.targets = List.copyOf(targets);
    }

    List<Target> targets() {
        return targets;
    }

    /**
     * Encodes the addresses in a class of Flink, since Flink's RPC cannot load classes of a job's
     * jar.
     */
    CoordinationResponse toResponse() {
        try {
            DataOutputSerializer out = new DataOutputSerializer(256);
            BytePrimitiveArraySerializer.INSTANCE.serialize(
                    InstantiationUtil.serializeObject(this), out);
            return new CollectCoordinationResponse("", 0, List.of(out.getCopyOfBuffer()));
        } catch (IOException e) {
            throw new UncheckedIOException(
                    "Cannot serialize addresses of writers: targets=" + targets, e);
        }
    }

    /**
     * Decodes a response of {@link #toResponse}.
     *
     * @throws IOException if the response is not one of {@link #toResponse}
     */
    static WriterAddresses of(CoordinationResponse response) throws IOException {
        List<byte[]> results =
                response instanceof CollectCoordinationResponse collected
                        ? collected.getResults(BytePrimitiveArraySerializer.INSTANCE)
                        : List.of();
        if (results.size() != 1) {
            throw new IOException("Response contains no addresses: response=" + response);
        }
        try {
            return InstantiationUtil.deserializeObject(
                    results.get(0), WriterAddresses.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IOException("Response contains no addresses: response=" + response, e);
        }
    }

    @Override
    public String toString() {
        return targets.toString();
    }
}
