// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.data.JoinedChunkWriter;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.plan.BulkChunkJoin;
import java.util.List;
import java.util.Objects;
import org.apache.flink.annotation.Experimental;
import org.apache.flink.streaming.api.datastream.DataStream;

/**
 * Joins two bounded streams of chunks in batch mode, and passes chunks of results to a writer, for
 * example of a columnar file. No row becomes an object.
 *
 * <p>One subtask joins and writes, with as many threads as the parallelism of the environment, so
 * results do not cross Flink's network. To spread a join over TaskManagers use {@link PairJoin}.
 *
 * <pre>{@code
 * ChunkJoin.of(sales.toStream(env, "sales"), customers.toStream(env, "customers"))
 *         .on(List.of("customer_id"), List.of("id"))
 *         .left()
 *         .write((attempt, threads) -> new ResultFile(file, attempt, threads))
 *         .sinkTo(new DiscardingSink<>());
 * }</pre>
 */
@Experimental
public final class ChunkJoin {

    private final BulkChunkJoin join;

    private ChunkJoin(BulkChunkJoin join) {
        this.join = join;
    }

    /**
     * Starts the definition of an inner join.
     *
     * @param left stream of chunks of one schema
     * @param right stream of chunks of one schema
     * @return the join, whose keys are not chosen yet
     */
    public static ChunkJoin of(DataStream<Chunk> left, DataStream<Chunk> right) {
        Objects.requireNonNull(left, "left");
        Objects.requireNonNull(right, "right");
        return new ChunkJoin(new BulkChunkJoin(left, right));
    }

    /**
     * Sets the key columns: integers of any width, texts or bytes, also nullable ones.
     *
     * @param left names of columns of the left side
     * @param right names of the columns of the right side that they are compared with
     * @return this
     * @throws IllegalArgumentException if a column does not exist
     */
    public ChunkJoin on(List<String> left, List<String> right) {
        Objects.requireNonNull(left, "left");
        Objects.requireNonNull(right, "right");
        join.setKeys(left, right);
        return this;
    }

    /**
     * Returns pairs, and left rows without a match.
     *
     * @return this
     */
    public ChunkJoin left() {
        join.setKind(BulkJoinKind.LEFT);
        return this;
    }

    /**
     * Returns pairs, and right rows without a match.
     *
     * @return this
     */
    public ChunkJoin right() {
        join.setKind(BulkJoinKind.RIGHT);
        return this;
    }

    /**
     * Returns pairs, and rows of both sides without a match.
     *
     * @return this
     */
    public ChunkJoin full() {
        join.setKind(BulkJoinKind.FULL);
        return this;
    }

    /**
     * Returns each left row with a match, once.
     *
     * @return this
     */
    public ChunkJoin semi() {
        join.setKind(BulkJoinKind.SEMI);
        return this;
    }

    /**
     * Returns left rows without a match.
     *
     * @return this
     */
    public ChunkJoin anti() {
        join.setKind(BulkJoinKind.ANTI);
        return this;
    }

    /**
     * Treats nulls in keys as equal ({@code IS NOT DISTINCT FROM}). By default a null key matches
     * nothing.
     *
     * @return this
     */
    public ChunkJoin nullSafe() {
        join.setNullsAreEqual();
        return this;
    }

    /**
     * Sets the prefix of the uids of the operators.
     *
     * @param uid unique among the joins of the job
     * @return this
     */
    public ChunkJoin uid(String uid) {
        Objects.requireNonNull(uid, "uid");
        join.setUid(uid);
        return this;
    }

    /**
     * Adds the join to the job.
     *
     * @param writers creates the writer of each attempt
     * @return a stream of one number: the count of result rows
     * @throws IllegalArgumentException if the keys differ in number or type
     * @throws IllegalStateException if the job does not run in batch mode
     */
    public DataStream<Long> write(JoinedChunkWriter.Factory writers) {
        return join.write(Objects.requireNonNull(writers, "writers"));
    }

    /**
     * Returns the plan of the join and its reasons.
     *
     * @return the plan
     */
    public JoinExplanation explain() {
        return join.explain();
    }
}
