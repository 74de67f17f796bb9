// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.state.EndedDimensions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.flink.runtime.state.KeyGroupRange;

/**
 * Tracks which dimensions are complete in a subtask of the join, by the {@linkplain LoadMark marks}
 * of each source subtask and partition. A dimension is complete when every source subtask is
 * complete or idle, and at least one is complete: Flink ignores idle channels in the same way.
 *
 * <p>Flink's watermark of the input merges the channels of all dimensions. By it, a dimension that
 * is idle throughout would be complete as soon as another one is.
 *
 * <p>After a restore, marks that were in flight precede new marks. They remain valid: each follows
 * the rows of its partition, and marks of different parallelisms are counted apart.
 */
final class LoadProgress {

    private record MarkedPart(int dimension, int partition) {}

    private final List<Integer> awaited;

    /** Awaited dimensions whose rows and marks are replayed after each restore. */
    private final Set<Integer> replayed;

    private final KeyGroupRange partitions;
    private final EndedDimensions state;

    /** Status of each source subtask, by their number. */
    private final Map<MarkedPart, Map<Integer, Status[]>> sources = new HashMap<>();

    /** Dimensions that had ended in the restored snapshot, one bit each, by partition. */
    private final Map<Integer, Long> restored = new HashMap<>();

    /** Index of a partition that was incomplete at the last call, by dimension. */
    private final Map<Integer, Integer> incomplete = new HashMap<>();

    /** Content of the state, by partition. */
    private final Map<Integer, Long> written = new HashMap<>();

    private boolean isOfEarlierRelease;

    /**
     * @param awaited numbers of the dimensions
     * @param replayed dimensions among them that a {@link ReplicaOperator} replays
     * @param partitions of the subtask
     */
    LoadProgress(
            List<Integer> awaited,
            Set<Integer> replayed,
            KeyGroupRange partitions,
            EndedDimensions state) {
        this.awaited = awaited;
        this.replayed = replayed;
        this.partitions = partitions;
        this.state = state;
    }

    /**
     * @param readAgain numbers of dimensions that are read again
     */
    void restore(Set<Integer> readAgain) throws Exception {
        long kept = ~0L;
        for (int dimension : readAgain) {
            kept &= ~(1L << dimension);
        }
        for (int partition : partitions) {
            Long ended = state.read(partition);
            isOfEarlierRelease |= ended == null;
            restored.put(partition, ended == null ? 0 : ended & kept);
        }
    }

    /**
     * Whether the restored snapshot lacks {@link EndedDimensions}. Then the largest watermark of
     * the input marks their end.
     */
    boolean isOfEarlierRelease() {
        return isOfEarlierRelease;
    }

    void accept(LoadMark mark) {
        if (!awaited.contains(mark.dimension())) {
            throw new IllegalStateException(
                    "Load mark of an unknown dimension: %s, dimensions=%s. Restart the job."
                            .formatted(mark, awaited));
        }
        sources.computeIfAbsent(
                                new MarkedPart(mark.dimension(), mark.partition()),
                                p -> new HashMap<>())
                        .computeIfAbsent(mark.parallelism(), LoadProgress::allLoading)[
                        mark.subtask()] =
                mark.status();
    }

    private static Status[] allLoading(int parallelism) {
        Status[] statuses = new Status[parallelism];
        Arrays.fill(statuses, Status.LOADING);
        return statuses;
    }

    /** Whether all dimensions are complete, so that facts may be joined. */
    boolean isComplete() {
        for (int dimension : awaited) {
            if (!isComplete(dimension)) {
                return false;
            }
        }
        return true;
    }

    /** Whether this subtask received only its partitions of a replayed dimension. */
    boolean isPartitioned(int dimension) {
        return sources.keySet().stream()
                .anyMatch(
                        part ->
                                part.dimension() == dimension
                                        && part.partition() != ChunkDescriptor.UNPARTITIONED);
    }

    /** Whether all replayed dimensions are complete. */
    boolean isReplayed() {
        return replayed.stream().allMatch(this::isComplete);
    }

    private boolean isComplete(int dimension) {
        if (isComplete(new MarkedPart(dimension, ChunkDescriptor.UNPARTITIONED))) {
            return true;
        }
        // Marks arrive in the order of partitions, so the last incomplete one is checked first.
        int count = partitions.getNumberOfKeyGroups();
        int first = incomplete.getOrDefault(dimension, 0);
        for (int i = 0; i < count; i++) {
            int index = (first + i) % count;
            int partition = partitions.getStartKeyGroup() + index;
            if (!wasEnded(dimension, partition)
                    && !isComplete(new MarkedPart(dimension, partition))) {
                incomplete.put(dimension, index);
                return false;
            }
        }
        return true;
    }

    private boolean isComplete(MarkedPart part) {
        for (Status[] statuses : sources.getOrDefault(part, Map.of()).values()) {
            if (count(statuses, Status.LOADING) == 0 && count(statuses, Status.COMPLETE) > 0) {
                return true;
            }
        }
        return false;
    }

    private boolean hasEnded(MarkedPart part) {
        for (Status[] statuses : sources.getOrDefault(part, Map.of()).values()) {
            if (count(statuses, Status.COMPLETE) == statuses.length) {
                return true;
            }
        }
        return false;
    }

    private boolean wasEnded(int dimension, int partition) {
        return !replayed.contains(dimension)
                && (restored.getOrDefault(partition, 0L) & 1L << dimension) != 0;
    }

    private static int count(Status[] statuses, Status wanted) {
        int count = 0;
        for (Status status : statuses) {
            count += status == wanted ? 1 : 0;
        }
        return count;
    }

    /** Writes which dimensions have ended; idle sources have not. */
    void snapshot() throws Exception {
        for (int partition : partitions) {
            long ended = 0;
            for (int dimension : awaited) {
                if (wasEnded(dimension, partition)
                        || hasEnded(new MarkedPart(dimension, ChunkDescriptor.UNPARTITIONED))
                        || hasEnded(new MarkedPart(dimension, partition))) {
                    ended |= 1L << dimension;
                }
            }
            Long before = written.put(partition, ended);
            if (before == null || before != ended) {
                state.write(partition, ended);
            }
        }
    }
}
