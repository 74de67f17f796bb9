// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;

/**
 * Announces to subtasks of the join that a checkpoint begins, before its barrier reaches them. Each
 * subtask sends a request, which this class answers when a checkpoint begins. Events are not
 * suitable: Flink delays a coordinator's events around a checkpoint, and a lost event fails the
 * task, while a lost answer does no harm.
 *
 * <p>Runs in the JobMaster's main thread.
 */
final class CheckpointAnnouncements {

    private static final long NONE = -1;

    private record PendingRequest(int subtask, CompletableFuture<CoordinationResponse> answer) {}

    private final Map<UUID, PendingRequest> requests = new HashMap<>();
    private long pending = NONE;

    void begun(long checkpoint) {
        pending = checkpoint;
        List<PendingRequest> answered = List.copyOf(requests.values());
        requests.clear();
        answered.forEach(pendingRequest -> pendingRequest.answer().complete(response(checkpoint)));
    }

    /** Records that a checkpoint is complete or aborted. */
    void ended(long checkpoint) {
        if (pending == checkpoint) {
            pending = NONE;
        }
    }

    CompletableFuture<CoordinationResponse> request(CheckpointRequest request) {
        if (pending > request.after()) {
            return CompletableFuture.completedFuture(response(pending));
        }
        PendingRequest pendingRequest =
                new PendingRequest(request.subtask(), new CompletableFuture<>());
        requests.put(request.asker(), pendingRequest);
        return pendingRequest.answer();
    }

    /**
     * Drops the requests of all attempts of a subtask, and the pending checkpoint, which the
     * failure of the subtask aborts.
     */
    void reset(int subtask) {
        pending = NONE;
        requests.values().removeIf(pendingRequest -> pendingRequest.subtask() == subtask);
    }

    void resetAll() {
        pending = NONE;
        requests.clear();
    }

    /**
     * Encodes an answer in a class of Flink, since Flink's RPC cannot load classes of a job's jar.
     */
    private static CoordinationResponse response(long checkpoint) {
        return new CollectCoordinationResponse("", checkpoint, List.of());
    }

    static long checkpointOf(CoordinationResponse response) {
        return response instanceof CollectCoordinationResponse collected
                ? collected.getLastCheckpointedOffset()
                : NONE;
    }
}
