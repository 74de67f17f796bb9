package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.EventTimeLog;
import java.util.Comparator;

/**
 * A chunk in state whose rows wait for their event time. It is on the heap from when the watermark
 * has come to its first row until it has passed the last one.
 */
final class DeferredChunk {

    private final EventTimeLog log;
    private final int partition;
    private final long position;
    private final int timeColumn;

    /** In order of arrival in the operator. */
    private final long sequence;

    private long time;

    /** Null before its first row is asked for. */
    private EventTimeCursor rows;

    /**
     * @param position in the log
     * @param rows of it, of which there are some
     */
    DeferredChunk(EventTimeLog log, long position, EventTimeCursor rows, long sequence) {
        this.log = log;
        this.partition = rows.chunk().partition();
        this.position = position;
        this.timeColumn = rows.timeColumn();
        this.sequence = sequence;
        this.time = rows.time();
    }

    /** The chunk whose next row comes first; of rows of one time, the one that arrived first. */
    static Comparator<DeferredChunk> byNextTime() {
        return Comparator.comparingLong(DeferredChunk::time)
                .thenComparingLong(chunk -> chunk.sequence);
    }

    /** Event time in ms of the row that comes next. */
    long time() {
        return time;
    }

    /** A cursor at the row that comes next. */
    EventTimeCursor rows() throws Exception {
        if (rows == null) {
            Chunk chunk = log.get(partition, position);
            rows = new EventTimeCursor(chunk, timeColumn, Long.MIN_VALUE, row -> {});
        }
        return rows;
    }

    /** Goes on to the next row; false where there is none, and nothing is in state any more. */
    boolean advance() throws Exception {
        rows.advance();
        if (rows.isEmpty()) {
            log.remove(partition, position);
            return false;
        }
        time = rows.time();
        return true;
    }

    /** Has the state hold the rows that still wait, and no others. */
    void snapshot() throws Exception {
        if (rows != null && rows.isBegun()) {
            log.replace(rows.rest(), position);
        }
    }
}
