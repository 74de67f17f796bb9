// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoin.AddedRows;
import io.github.gpujoin.flink.state.InputLog;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.flink.state.PartitionSize;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;

/**
 * Rewrites the log of an input to the rows of its table when more than half of the logged rows are
 * retractions, retracted or expired. One step rewrites one partition, so that a large table does
 * not hold up the input.
 */
final class LogCompaction {

    /** A log of fewer rows is not rewritten. */
    private static final long MIN_ROWS = 1 << 14;

    /** The log of a spilled partition with fewer rows is not rewritten. */
    private static final long MIN_PARTITION_ROWS = 1 << 10;

    /** A log of fewer chunks is not rewritten because they are short. */
    private static final long MIN_CHUNKS = 1 << 12;

    /** Chunks of fewer rows cost more than their rows. */
    private static final long SHORT_CHUNK_ROWS = 32;

    private final PartitionTables tables;
    private final int input;
    private final InputLog log;
    private final PartitionKeys keys;
    private final Deque<Integer> partitions = new ArrayDeque<>();

    /** Counts at the end of the last round, by which the next one pays again. */
    private long loggedBefore;

    private long chunksBefore;

    private long liveBefore;

    LogCompaction(PartitionTables tables, int input, InputLog log, PartitionKeys keys) {
        this.tables = tables;
        this.input = input;
        this.log = log;
        this.keys = keys;
    }

    /**
     * Starts a round if it pays.
     *
     * @return whether {@link #step} has partitions to rewrite
     */
    boolean isDue() {
        if (partitions.isEmpty() && (isMostlyDead() || isMostlyShort())) {
            keys.ownPartitions().forEach(partitions::add);
        }
        return !partitions.isEmpty();
    }

    private boolean isMostlyDead() {
        long logged = log.rowCount();
        if (tables.spilledCount() > 0) {
            // The join does not count the rows of spilled partitions.
            return logged > 2 * Math.max(loggedBefore, MIN_ROWS);
        }
        long live = liveRows();
        long died = logged - loggedBefore + Math.max(0, liveBefore - live);
        return logged > 2 * Math.max(live, MIN_ROWS) && died >= loggedBefore / 2;
    }

    /** Rows that expire keep the time of their chunk, so their chunks are not merged. */
    private boolean isMostlyShort() {
        long chunks = log.chunkCount();
        return tables.join().inputs().get(input).timeToLiveMs() == SymmetricInput.FOREVER
                && chunks > 2 * Math.max(chunksBefore, MIN_CHUNKS)
                && log.rowCount() < SHORT_CHUNK_ROWS * chunks;
    }

    private long liveRows() {
        return tables.join().stats().tableRows().get(input);
    }

    /**
     * Rewrites the next partition, if it has a table. {@link SpilledRows} rewrites others. Nothing
     * may be in flight.
     */
    void step() throws Exception {
        int partition = partitions.remove();
        if (!tables.isSpilled(partition)) {
            rewrite(tables.join(), input, log, partition);
        }
        if (partitions.isEmpty()) {
            loggedBefore = log.rowCount();
            chunksBefore = log.chunkCount();
            liveBefore = liveRows();
        }
    }

    /** Rewrites the log of a spilled partition if most of its rows are dead. */
    static void rewriteIfDead(SymmetricJoin join, int input, InputLog log, int partition)
            throws Exception {
        long live = join.stats().tableRows().get(input);
        if (log.size(partition).rows() > 2 * Math.max(live, MIN_PARTITION_ROWS)) {
            rewrite(join, input, log, partition);
        }
    }

    /** Rewrites the log of a partition to the rows of its table, if that makes it shorter. */
    static void rewrite(SymmetricJoin join, int input, InputLog log, int partition)
            throws Exception {
        PartitionSize logged = log.size(partition);
        if (logged.rows() == 0) {
            return;
        }
        List<AddedRows> live = new ArrayList<>();
        join.copyRows(input, partition, live::add);
        long liveRows = live.stream().mapToLong(rows -> rows.chunk().rowCount()).sum();
        if (liveRows < logged.rows() || live.size() < logged.chunks()) {
            log.rewrite(partition, live);
        }
    }
}
