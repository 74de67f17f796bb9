// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.core.filter.KeyPiece;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;
import org.apache.flink.runtime.operators.coordination.CoordinationRequest;
import org.jspecify.annotations.Nullable;

/**
 * A message to the {@link FilterExchange} of a join. A request without an answer may be repeated.
 * Dimensions are sets of bits: bit {@code d} is dimension {@code d}.
 */
sealed interface FilterRequest extends CoordinationRequest {

    /**
     * A subtask of the join announces itself. The answer arrives once all subtasks have.
     *
     * @param attempt of the subtask
     * @param process TaskManager that it runs in
     * @param senders attempts that send it facts; empty if they are those of subtask 0
     */
    record Announce(ExecutionAttemptID attempt, String process, Set<ExecutionAttemptID> senders)
            implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /**
     * A process has received the answer to an announcement, and will offer its keys. Repeated until
     * it does, since Flink may release the process without a failure.
     *
     * @param generation that the announcement was answered with
     */
    record Confirm(String generation, String process) implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /**
     * The subtasks of a process offer their keys, once all dimensions are complete in each of them.
     * The answer lists the dimensions to send, none if no further process needs any.
     *
     * @param generation that the announcement was answered with
     * @param whole size in bytes of the keys of each dimension of which each subtask has all keys
     * @param parts size in bytes of the keys of each dimension of which the process has a part
     */
    record Offer(
            String generation, String process, Map<Integer, Long> whole, Map<Integer, Long> parts)
            implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /**
     * Sends keys of a dimension.
     *
     * @param index of the piece among those of the process and dimension, from 0
     * @param isLast whether no piece follows
     * @param piece null if the process cannot send the keys
     */
    record Put(
            String generation,
            String process,
            int dimension,
            int index,
            boolean isLast,
            @Nullable KeyPiece piece)
            implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /**
     * A task that sends facts asks which filters it should fetch. The answer arrives once they are
     * complete, or if there will be none.
     *
     * @param attempt of the task
     */
    record Ask(ExecutionAttemptID attempt, String process) implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /**
     * Fetches a piece of a filter.
     *
     * @param offset of the piece in bytes
     */
    record Fetch(String generation, int dimension, int offset) implements FilterRequest {

        private static final long serialVersionUID = 1L;
    }

    /** Returns the dimensions in a set of bits, in ascending order. */
    static List<Integer> dimensions(long bits) {
        return java.util.BitSet.valueOf(new long[] {bits}).stream().boxed().toList();
    }
}
