package io.github.gpujoin.flink.exchange.ring;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;

/**
 * Tells subtasks of the join that a checkpoint begins, before its barrier reaches them. They ask,
 * and are answered when it begins: Flink holds a coordinator's events back around a checkpoint, and
 * an event that is lost fails the task, while an answer that is lost costs nothing.
 *
 * <p>All calls come in the JobMaster's main thread.
 */
final class CheckpointAnnouncements {

    private static final long NONE = -1;

    private record Question(int subtask, CompletableFuture<CoordinationResponse> answer) {}

    private final Map<UUID, Question> questions = new HashMap<>();
    private long pending = NONE;

    void begun(long checkpoint) {
        pending = checkpoint;
        List<Question> answered = List.copyOf(questions.values());
        questions.clear();
        answered.forEach(question -> question.answer().complete(response(checkpoint)));
    }

    /** The checkpoint is complete or aborted. */
    void ended(long checkpoint) {
        if (pending == checkpoint) {
            pending = NONE;
        }
    }

    CompletableFuture<CoordinationResponse> ask(CheckpointRequest request) {
        if (pending > request.after()) {
            return CompletableFuture.completedFuture(response(pending));
        }
        Question question = new Question(request.subtask(), new CompletableFuture<>());
        questions.put(request.asker(), question);
        return question.answer();
    }

    /** Forgets the questions of all attempts of a subtask, and the checkpoint that it fails. */
    void reset(int subtask) {
        pending = NONE;
        questions.values().removeIf(question -> question.subtask() == subtask);
    }

    void resetAll() {
        pending = NONE;
        questions.clear();
    }

    /** In a class of Flink's own: what reads responses knows no class of a job's jar. */
    private static CoordinationResponse response(long checkpoint) {
        return new CollectCoordinationResponse("", checkpoint, List.of());
    }

    static long checkpointOf(CoordinationResponse response) {
        return response instanceof CollectCoordinationResponse collected
                ? collected.getLastCheckpointedOffset()
                : NONE;
    }
}
