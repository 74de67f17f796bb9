// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

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
 * Answer to a {@link FilterRequest}.
 *
 * @param generation of filters
 * @param dimensions to send or to fetch, a set of bits
 * @param processSubtasks subtasks of the join in the process that announced itself
 * @param subtasks of the join
 * @param bytes a piece of a filter
 */
record FilterResponse(
        Status status,
        String generation,
        long dimensions,
        int processSubtasks,
        int subtasks,
        byte[] bytes)
        implements Serializable {

    /** What the asker does next. */
    enum Status {
        /** It uses the answer. */
        OK,
        /** It repeats the request. */
        AGAIN,
        /** It stops, since there will be no answer. */
        OVER
    }

    private static final long serialVersionUID = 1L;

    private static final byte[] NO_BYTES = new byte[0];

    static final FilterResponse AGAIN = new FilterResponse(Status.AGAIN, "", 0, 0, 0, NO_BYTES);
    static final FilterResponse OVER = new FilterResponse(Status.OVER, "", 0, 0, 0, NO_BYTES);

    static FilterResponse ofDimensions(String generation, long dimensions) {
        return new FilterResponse(Status.OK, generation, dimensions, 0, 0, NO_BYTES);
    }

    static FilterResponse ofSubtasks(String generation, int processSubtasks, int subtasks) {
        return new FilterResponse(Status.OK, generation, 0, processSubtasks, subtasks, NO_BYTES);
    }

    static FilterResponse ofBytes(String generation, byte[] bytes) {
        return new FilterResponse(Status.OK, generation, 0, 0, 0, bytes);
    }

    boolean isOk() {
        return status == Status.OK;
    }

    /** Encodes it in a class of Flink, since Flink's RPC cannot load classes of a job's jar. */
    CoordinationResponse toResponse() {
        try {
            DataOutputSerializer out = new DataOutputSerializer(bytes.length + 512);
            BytePrimitiveArraySerializer.INSTANCE.serialize(
                    InstantiationUtil.serializeObject(this), out);
            return new CollectCoordinationResponse("", 0, List.of(out.getCopyOfBuffer()));
        } catch (IOException e) {
            throw new UncheckedIOException("Cannot serialize an answer: " + status, e);
        }
    }

    /** Decodes a response; {@link #AGAIN} if it is none of {@link #toResponse}. */
    static FilterResponse of(@Nullable CoordinationResponse response) {
        try {
            if (response instanceof CollectCoordinationResponse collected) {
                List<byte[]> results = collected.getResults(BytePrimitiveArraySerializer.INSTANCE);
                return InstantiationUtil.deserializeObject(
                        results.get(0), FilterResponse.class.getClassLoader());
            }
        } catch (IOException | ClassNotFoundException e) {
            throw new IllegalStateException("Response is not one of a filter exchange.", e);
        }
        return AGAIN;
    }
}
