// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.record.SnapshotDamage;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.runtime.operators.coordination.CoordinationResponse;
import org.apache.flink.runtime.operators.coordination.CoordinatorStore;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.collect.CollectCoordinationResponse;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Decides how a {@link MeasuredDimension} is distributed, from what its log measures. The
 * coordinators of the log and of the packers of facts share it.
 *
 * <p>The dimension stays partitioned once its reports exceed the limit. It is replicated when all
 * of it is measured. A decision that a checkpoint holds is final.
 *
 * <p>Used by the JobMaster's main thread.
 */
final class DistributionDecision {

    private static final Logger LOG = LoggerFactory.getLogger(DistributionDecision.class);

    private static final int FORMAT_VERSION = 1;

    private static final long NEVER = Long.MAX_VALUE;

    /** An open question of an attempt of a subtask. */
    private record Question(
            int attempt, long passedCheckpoint, CompletableFuture<CoordinationResponse> answer) {}

    private final MeasuredDimension dimension;
    private final Map<Integer, SizeReport> reports = new HashMap<>();
    private final Map<Integer, Question> questions = new HashMap<>();
    private final Map<Integer, Question> packers = new HashMap<>();

    /** Checkpoints in progress that hold no decision. */
    private final Set<Long> undecided = new HashSet<>();

    private Distribution decided = Distribution.MEASURED;

    /** The first checkpoint that may hold the decision. */
    private long durableFrom = NEVER;

    private long restoredCheckpoint = OperatorCoordinator.NO_CHECKPOINT;

    /** The decision in the restored checkpoint; null without one. */
    private @Nullable Distribution restored;

    DistributionDecision(MeasuredDimension dimension) {
        this.dimension = dimension;
    }

    /** The decision of a join, which its coordinators share. */
    static DistributionDecision of(CoordinatorStore store, MeasuredDimension dimension) {
        String key = "gpu-join distribution: " + dimension.join();
        store.putIfAbsent(key, new DistributionDecision(dimension));
        return (DistributionDecision) store.get(key);
    }

    // ------------------------------------------------------------------ the log of the dimension

    /**
     * Records a report.
     *
     * @param parallelism of the log
     * @return completes with the decision, or with {@link Distribution#MEASURED} at the subtask's
     *     next report
     */
    CompletableFuture<CoordinationResponse> ask(SizeReport report, int parallelism) {
        SizeReport before = reports.get(report.subtask());
        if (before == null || before.attempt() <= report.attempt()) {
            reports.put(report.subtask(), report);
            decide(parallelism);
        }
        CompletableFuture<CoordinationResponse> answer =
                put(report.subtask(), report.attempt(), Long.MAX_VALUE, questions);
        answerIfDecided();
        return answer;
    }

    /** A question of an older attempt does not replace the question of a later one. */
    private static CompletableFuture<CoordinationResponse> put(
            int subtask, int attempt, long passedCheckpoint, Map<Integer, Question> into) {
        Question before = into.get(subtask);
        if (before != null && before.attempt() > attempt) {
            return CompletableFuture.completedFuture(response(Distribution.MEASURED));
        }
        CompletableFuture<CoordinationResponse> answer = new CompletableFuture<>();
        into.put(subtask, new Question(attempt, passedCheckpoint, answer));
        if (before != null) {
            before.answer().complete(response(Distribution.MEASURED));
        }
        return answer;
    }

    private void decide(int parallelism) {
        if (decided != Distribution.MEASURED) {
            return;
        }
        long bytes = reports.values().stream().mapToLong(SizeReport::bytes).sum();
        long complete = reports.values().stream().filter(SizeReport::complete).count();
        if (bytes > dimension.maxBytes()) {
            decide(Distribution.PARTITIONED, "measured at least " + bytes + " bytes");
        } else if (complete == parallelism) {
            decide(Distribution.REPLICATED, "measured " + bytes + " bytes");
        }
    }

    private void decide(Distribution distribution, String why) {
        decided = distribution;
        LOG.info(
                "Star join {}: dimension '{}' is {}: {}, limit {} bytes.",
                dimension.join(),
                dimension.name(),
                distribution,
                why,
                dimension.maxBytes());
    }

    private void answerIfDecided() {
        if (decided != Distribution.MEASURED) {
            long lastUndecided = undecided.stream().max(Long::compare).orElse(Long.MIN_VALUE);
            answer(questions, lastUndecided);
            answer(packers, lastUndecided);
        }
    }

    private void answer(Map<Integer, Question> asked, long lastUndecided) {
        List<Question> answered =
                asked.values().stream().filter(q -> q.passedCheckpoint() >= lastUndecided).toList();
        asked.values().removeAll(answered);
        answered.forEach(question -> question.answer().complete(response(decided)));
    }

    /** Drops the report of a subtask. */
    void reset(int subtask) {
        reports.remove(subtask);
        questions.remove(subtask);
    }

    /**
     * Revokes the decision if the region restarts from a checkpoint before it. The rows that
     * decided it may be read again in other numbers, such as after a failed drain.
     */
    void regionReset(long checkpoint) {
        if (checkpoint < durableFrom) {
            decided = Distribution.MEASURED;
            durableFrom = NEVER;
        }
    }

    /** Drops the reports of all subtasks. */
    void resetReports() {
        reports.clear();
        questions.clear();
    }

    // ------------------------------------------------------------------ packers of facts

    /**
     * Answers a packer once the decision exists, and each checkpoint without it is complete,
     * aborted or past the packer. So no such checkpoint holds facts that depend on the decision.
     * Flink does not report that a savepoint is complete.
     */
    CompletableFuture<CoordinationResponse> ask(DistributionRequest question) {
        CompletableFuture<CoordinationResponse> answer =
                put(question.subtask(), question.attempt(), question.passedCheckpoint(), packers);
        answerIfDecided();
        return answer;
    }

    void packerFailed(int subtask) {
        packers.remove(subtask);
    }

    // ------------------------------------------------------------------ state

    /**
     * Returns the state of a coordinator for a new checkpoint.
     *
     * <pre>
     *  int32 format version | int32 0 measured, 1 replicated, 2 partitioned | UTF-8 name
     * </pre>
     */
    byte[] snapshot(long checkpoint) {
        if (decided == Distribution.MEASURED) {
            undecided.add(checkpoint);
        } else {
            durableFrom = Math.min(durableFrom, checkpoint);
        }
        return toBytes();
    }

    /** Called when a checkpoint is complete or aborted. */
    void checkpointEnded(long checkpoint) {
        if (undecided.remove(checkpoint)) {
            answerIfDecided();
        }
    }

    private byte[] toBytes() {
        byte[] name = dimension.name().getBytes(StandardCharsets.UTF_8);
        return ByteBuffer.allocate(2 * Integer.BYTES + name.length)
                .putInt(FORMAT_VERSION)
                .putInt(code(decided))
                .put(name)
                .array();
    }

    /**
     * Restores a checkpoint. Both coordinators call it, in any order: the decision may be younger
     * than one of their snapshots, and the state of an operator that has finished is lost.
     *
     * @param state null or empty if the checkpoint has no state of the coordinator. If neither has
     *     any, the job did not measure this dimension, and facts are not partitioned by its key.
     * @throws SuppressRestartsException if the state is damaged, or if a later release wrote it; a
     *     restart would meet that again
     */
    void restore(long checkpoint, byte @Nullable [] state) {
        packers.clear();
        undecided.clear();
        if (checkpoint != restoredCheckpoint) {
            restoredCheckpoint = checkpoint;
            restored = null;
        }
        if (checkpoint == OperatorCoordinator.NO_CHECKPOINT) {
            decided = Distribution.MEASURED;
            durableFrom = NEVER;
            return;
        }
        if (state != null && state.length > 0) {
            Distribution read = readOrSuppressRestarts(state);
            restored = restored == null || restored == Distribution.MEASURED ? read : restored;
        }
        decided = restored == null ? Distribution.REPLICATED : restored;
        durableFrom = decided == Distribution.MEASURED ? NEVER : checkpoint;
    }

    private Distribution readOrSuppressRestarts(byte[] state) {
        try {
            return read(ByteBuffer.wrap(state));
        } catch (IllegalStateException e) {
            throw new SuppressRestartsException(e);
        }
    }

    private Distribution read(ByteBuffer state) {
        if (state.remaining() < 2 * Integer.BYTES) {
            throw SnapshotDamage.in(
                    "coordinator of the distribution",
                    "the state is cut: bytes=%d".formatted(state.remaining()));
        }
        int version = state.getInt();
        if (version != FORMAT_VERSION) {
            throw new IllegalStateException(
                    "The snapshot has format %d of a join's distribution, this release reads %d.\nRestore it with the release that wrote it, or a later one."
                            .formatted(version, FORMAT_VERSION));
        }
        Distribution saved = distribution(state.getInt());
        String name = StandardCharsets.UTF_8.decode(state).toString();
        // Facts have the keys of the dimension that was measured.
        return name.equals(dimension.name()) ? saved : Distribution.REPLICATED;
    }

    private static int code(Distribution distribution) {
        return switch (distribution) {
            case MEASURED -> 0;
            case REPLICATED -> 1;
            case PARTITIONED -> 2;
        };
    }

    private static Distribution distribution(int code) {
        return switch (code) {
            case 0 -> Distribution.MEASURED;
            case 1 -> Distribution.REPLICATED;
            case 2 -> Distribution.PARTITIONED;
            default ->
                    throw SnapshotDamage.in(
                            "coordinator of the distribution",
                            "the distribution is unknown: code=%d".formatted(code));
        };
    }

    /** In a class of Flink: its RPC cannot load classes of a job's jar. */
    private static CoordinationResponse response(Distribution distribution) {
        return new CollectCoordinationResponse("", code(distribution), List.of());
    }

    /** Reads a response; {@link Distribution#MEASURED} without a decision. */
    static Distribution of(@Nullable CoordinationResponse response) {
        return response instanceof CollectCoordinationResponse collected
                ? distribution((int) collected.getLastCheckpointedOffset())
                : Distribution.MEASURED;
    }
}
