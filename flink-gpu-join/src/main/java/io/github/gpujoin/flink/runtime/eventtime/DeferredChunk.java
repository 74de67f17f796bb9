// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.EventTimeLog;
import java.util.Comparator;
import org.jspecify.annotations.Nullable;

/**
 * A chunk in state whose rows wait for their event time. It is also on the heap while the watermark
 * lies between its first and its last row.
 */
final class DeferredChunk {

    private final EventTimeLog log;
    private final int partition;
    private final long position;
    private final int timeColumn;

    /** In order of arrival in the operator. */
    private final long sequence;

    private long time;

    /** Null until the first row is due. */
    private @Nullable EventTimeCursor rows;

    /**
     * @param position in the log
     * @param rows of the chunk, at least one
     */
    DeferredChunk(EventTimeLog log, long position, EventTimeCursor rows, long sequence) {
        this.log = log;
        this.partition = rows.chunk().partition();
        this.position = position;
        this.timeColumn = rows.timeColumn();
        this.sequence = sequence;
        this.time = rows.time();
    }

    /** Order of the chunks' next rows by event time, then by arrival. */
    static Comparator<DeferredChunk> byNextTime() {
        return Comparator.comparingLong(DeferredChunk::time)
                .thenComparingLong(chunk -> chunk.sequence);
    }

    /** Event time of the next row, in ms. */
    long time() {
        return time;
    }

    /** A cursor at the next row. */
    EventTimeCursor rows() throws Exception {
        if (rows == null) {
            Chunk chunk = log.get(partition, position);
            rows = new EventTimeCursor(chunk, timeColumn, Long.MIN_VALUE, row -> {});
        }
        return rows;
    }

    /** Moves to the next row; behind the last one, removes the chunk and returns false. */
    boolean advance() throws Exception {
        rows.advance();
        if (rows.isEmpty()) {
            log.remove(partition, position);
            return false;
        }
        time = rows.time();
        return true;
    }

    /** Writes the rows that still wait to the state, and removes the others. */
    void snapshot() throws Exception {
        if (rows != null && rows.isBegun()) {
            log.replace(rows.rest(), position);
        }
    }
}
