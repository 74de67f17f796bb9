// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.EngineState;
import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.engine.DimensionPartitioning;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.metrics.StageTimes.Stage;
import io.github.gpujoin.flink.metrics.SubtaskCounts;
import io.github.gpujoin.flink.runtime.expiry.DimensionExpiry;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.PartitionDivider;
import io.github.gpujoin.flink.state.PartitionSize;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import java.util.ArrayDeque;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;
import org.jspecify.annotations.Nullable;

/**
 * The build side of a subtask: its log in state, and the engine's tables, which are built from it.
 *
 * <p>Runs in the task's mailbox thread.
 */
final class BuildSide {

    private final JoinEngine engine;
    private final GroupCodes codes;
    private final BuildLog log;
    private final UnmatchedBuildRows unmatched;
    private final DimensionExpiry expiry;
    private final ReplicaLimit limit;
    private final DimensionKeys keys;
    private final SubtaskCounts counts;
    private final ThrowingRunnable<Exception> checkNotCancelled;

    /** Collects chunks of many partitions while the build side loads. */
    private final PartitionDivider divider;

    /** Logged changes that the engine receives once its tables are complete. */
    private final ArrayDeque<Chunk> deferred = new ArrayDeque<>();

    /** Whether the tables are built for the first time, not in place of a failed engine's. */
    private boolean isBuilding;

    private long buildStartNs;

    /**
     * @param codes replace the texts of group columns for the engine; the log keeps the texts
     * @param keys collects the keys of the dimensions that filter facts
     * @param divider of chunks of the partitioned dimension
     * @param checkNotCancelled throws if the task has been cancelled
     */
    BuildSide(
            JoinEngine engine,
            GroupCodes codes,
            BuildLog log,
            UnmatchedBuildRows unmatched,
            DimensionExpiry expiry,
            ReplicaLimit limit,
            DimensionKeys keys,
            SubtaskCounts counts,
            PartitionDivider divider,
            ThrowingRunnable<Exception> checkNotCancelled) {
        this.engine = engine;
        this.codes = codes;
        this.log = log;
        this.unmatched = unmatched;
        this.expiry = expiry;
        this.limit = limit;
        this.keys = keys;
        this.counts = counts;
        this.divider = divider;
        this.checkNotCancelled = checkNotCancelled;
    }

    /** Appends rows, or changes; the engine must hold no facts from before a change. */
    void append(Chunk chunk) throws Exception {
        long startNs = System.nanoTime();
        limit.add(chunk);
        if (chunk.hasManyPartitions()) {
            divider.add(chunk, 0);
            if (divider.isFull()) {
                divideCollected();
            }
        } else {
            appendPart(chunk);
        }
        counts.times().addSince(Stage.LOAD, startNs);
    }

    /** Writes collected rows to the log. */
    private void divideCollected() throws Exception {
        divider.divide(this::appendPart);
    }

    private void appendPart(Chunk chunk) throws Exception {
        Chunk logged = unmatched.numbered(expiry.stamped(chunk));
        log.append(logged);
        if (isBuilding) {
            deferred.add(logged);
        } else {
            load(logged);
        }
    }

    /** Passes the logged chunks of a partition of the partitioned dimension, in order. */
    void forEachLogged(int partition, ThrowingConsumer<Chunk, Exception> consumer)
            throws Exception {
        for (long i = 0; i < log.count(partition); i++) {
            consumer.accept(log.get(partition, i));
        }
    }

    /** Applies deletions of rows that have left the log, while no tables are built. */
    void delete(Chunk chunk) {
        submit(chunk);
    }

    /** Submits a change that the log already contains. */
    private void submit(Chunk chunk) {
        // An engine that replaces a failed one builds its tables from the log.
        if (engine.state() != EngineState.BUILDING) {
            engine.submitBuild(chunk.dimension(), codes.encode(chunk));
        }
    }

    /** Ends loading; the engine's build steps follow. */
    void startBuild() throws Exception {
        divideCollected();
        isBuilding = true;
        buildStartNs = System.nanoTime();
        log.holdRewrites(true);
    }

    /**
     * Ends the build of the tables, and applies changes that arrived meanwhile.
     *
     * @return duration of the build in ms
     */
    long complete() throws Exception {
        log.holdRewrites(false);
        isBuilding = false;
        while (!deferred.isEmpty()) {
            load(deferred.remove());
        }
        log.setComplete();
        return counts.built(buildStartNs);
    }

    /** Whether the build side was complete in the restored snapshot. */
    boolean wasComplete() throws Exception {
        return log.isComplete();
    }

    /**
     * Loads the rows of a snapshot, except those that have expired since.
     *
     * @param division of a {@link HybridJoinEngine}, else null
     */
    void restore(@Nullable DimensionPartitioning division) throws Exception {
        if (engine instanceof HybridJoinEngine divided) {
            log.replayReplicated(this::restored);
            log.replaySizes(size -> restored(divided, division.dimension(), size));
        } else {
            log.replay(this::restored);
        }
        expiry.restored();
    }

    private void restored(Chunk chunk) throws Exception {
        checkNotCancelled.run();
        unmatched.restored(chunk.partition(), chunk.rowCount());
        load(chunk);
    }

    /** The engine builds tables from the log once it has the sizes of all partitions. */
    private void restored(HybridJoinEngine divided, int dimension, PartitionSize size)
            throws Exception {
        checkNotCancelled.run();
        unmatched.restored(size.partition(), size.rows());
        keys.await(dimension, size.partition(), size.chunks());
        divided.addBuild(size.partition(), size.rows(), size.bytes());
        counts.restored(dimension, size);
    }

    private void load(Chunk chunk) {
        submit(chunk);
        keys.add(chunk);
        counts.buildChunk(chunk);
    }

    void snapshot() throws Exception {
        divideCollected();
        log.snapshot();
    }
}
