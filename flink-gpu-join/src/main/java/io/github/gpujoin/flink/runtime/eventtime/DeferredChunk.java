// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.state.EventTimeLog;
import java.util.Arrays;
import java.util.BitSet;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * A chunk in state whose rows wait for their event time. It is also on the heap while the watermark
 * lies between its first and its last row, and while rows are {@linkplain #hold held}.
 */
final class DeferredChunk implements TimedRows {

    /** Ratio of rows on the heap to held ones above which the held ones are copied. */
    private static final int COPY_RATIO = 4;

    private final EventTimeLog log;
    private final int partition;
    private final boolean isFacts;
    private final long position;
    private final int timeColumn;

    /** In order of arrival in the operator. */
    private final long sequence;

    private long time;
    private final long lastTime;

    /** Count of rows that wait. */
    private int waiting;

    /** Null until the first row is due. */
    private @Nullable EventTimeCursor rows;

    /** Rows of the chunk as it arrived. */
    private final BitSet held = new BitSet();

    private int heldCount;

    /** The held rows after the last row was due. Null if they are in {@link #rows}. */
    private @Nullable Chunk copy;

    /** Rows of the chunk as it arrived that {@link #copy} has, ascending. */
    private int[] copied = new int[0];

    private boolean isDrained;
    private boolean differsFromState;

    /**
     * @param position in the log
     * @param rows of the chunk, at least one
     */
    DeferredChunk(EventTimeLog log, long position, EventTimeCursor rows, long sequence) {
        this.log = log;
        this.partition = rows.chunk().partition();
        this.isFacts = rows.chunk().dimension() == ChunkDescriptor.FACTS;
        this.position = position;
        this.timeColumn = rows.timeColumn();
        this.sequence = sequence;
        this.time = rows.time();
        this.lastTime = rows.lastTime();
        this.waiting = rows.size();
    }

    /** Order of the chunks' next rows by event time, then by arrival. */
    static Comparator<DeferredChunk> byNextTime() {
        return Comparator.comparingLong(DeferredChunk::time)
                .thenComparingLong(chunk -> chunk.sequence);
    }

    /** Order in which chunks arrived. */
    static Comparator<DeferredChunk> byArrival() {
        return Comparator.comparingLong(chunk -> chunk.sequence);
    }

    int partition() {
        return partition;
    }

    /** Whether the rows are facts, not versions. */
    boolean isFacts() {
        return isFacts;
    }

    @Override
    public long time() {
        return time;
    }

    @Override
    public long lastTime() {
        return lastTime;
    }

    /** A cursor at the next row. */
    EventTimeCursor rows() throws Exception {
        if (rows == null) {
            Chunk chunk = log.get(partition, position);
            rows = new EventTimeCursor(chunk, timeColumn, Long.MIN_VALUE, row -> {});
        }
        return rows;
    }

    /** Moves to the next row. */
    void advance() throws Exception {
        rows().advance();
        differsFromState = true;
        waiting--;
        if (waiting > 0) {
            time = rows.time();
        }
    }

    /** Moves behind the last row; returns the number of rows before. */
    int advanceToEnd() {
        int count = waiting;
        waiting = 0;
        return count;
    }

    @Override
    public int waitingCount() {
        return waiting;
    }

    boolean isWaiting() {
        return waiting > 0;
    }

    /** Keeps the next row until it is {@linkplain #release released}. */
    DueVersion hold() throws Exception {
        int row = rows().row();
        held.set(row);
        heldCount++;
        return new DueVersion(this, row, time);
    }

    /** Chunk of a held row, in which its index is {@link #indexOf}. */
    Chunk chunk() throws Exception {
        return copy == null ? rows().chunk() : copy;
    }

    int indexOf(int row) {
        return copy == null ? row : Arrays.binarySearch(copied, row);
    }

    /** Releases a held row; returns whether the chunk has left the log. */
    boolean release(int row) throws Exception {
        held.clear(row);
        heldCount--;
        differsFromState = true;
        return isDrained && !endRows();
    }

    /**
     * To be called behind the last row: removes the chunk from the log, unless rows are held.
     *
     * @return whether rows are held
     */
    boolean endRows() throws Exception {
        isDrained = true;
        if (heldCount == 0) {
            log.remove(partition, position);
            return false;
        }
        int onHeap = copy == null ? rows().chunk().rowCount() : copied.length;
        if (onHeap > COPY_RATIO * heldCount) {
            int[] remaining = held.stream().toArray();
            copy = EventTimeCursor.copy(chunk(), held.stream().map(this::indexOf).toArray());
            copied = remaining;
            rows = null;
        }
        return true;
    }

    /** Writes the rows that still wait or are held to the state, and removes the others. */
    void snapshot() throws Exception {
        if (!differsFromState) {
            return;
        }
        Chunk rest =
                copy == null
                        ? rows().rest(held)
                        : EventTimeCursor.copy(copy, held.stream().map(this::indexOf).toArray());
        log.replace(rest, position);
        differsFromState = false;
    }
}
