// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.state.EventTimeLog;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.apache.flink.util.function.BiConsumerWithException;

/**
 * Orders facts and versions of a dimension by event time. Rows up to the watermark are emitted;
 * later rows wait. A row that arrives at or behind the watermark is late. When a fact is joined,
 * the dimension's table holds the version of the fact's time, so any engine that applies changes
 * can join by event time.
 *
 * <p>Due versions become pending first ({@link PendingVersions}). Then facts are emitted ({@link
 * DueFacts}), and a version when a fact sees it: the order matters within a key only. In the end
 * the newest version of each key is emitted, if no fact has seen it.
 *
 * <pre>
 *   time      1     2     3     4     5     6
 *             a=1   ?b    b=7   ?a    ?b    a=2      (x=n version of key x, ?x fact)
 *   batches   ?b  |  a=1 b=7 ?a ?b  |  a=2
 * </pre>
 *
 * <p>Late rows are dropped, or joined at the next watermark ({@link EventTimeJoin#joinsLateRows}).
 * A late fact sees what is still kept of the versions.
 *
 * <p>Waiting rows are in state; chunks that the watermark has reached are on the heap, too. Runs in
 * the task's mailbox thread.
 */
public final class EventTimeOrder {

    /** Receives the batches, and joins them in the order of the calls. */
    public interface Target {

        /** Applies versions after all facts so far are joined. */
        void change(Chunk versions) throws Exception;

        /** Joins facts with the versions applied so far. */
        void facts(Chunk facts) throws Exception;

        /**
         * Passes the versions of a partition that were applied to a consumer, in order: of each key
         * at least the last one, also if it is a deletion.
         */
        void forEachChange(
                int partition, BiConsumerWithException<Chunk, Integer, Exception> consumer)
                throws Exception;

        /** Returns whether {@link #facts} accepts a chunk without waiting. */
        default boolean hasRoom() {
            return true;
        }

        /**
         * Returns whether the results of all facts so far are emitted, so that {@link #change}
         * accepts a chunk without waiting.
         */
        default boolean hasEmittedAll() {
            return true;
        }

        /** Records that all facts up to the event time, in ms, are submitted. */
        void joinedUpTo(long time) throws Exception;
    }

    /** A chunk with late rows, which become due at a later watermark than the given one. */
    private record LateChunk(long watermark, DeferredChunk chunk) {}

    private final DimensionSpec side;
    private final EventTimeJoin join;
    private final Target target;
    private final EventTimeLog log;
    private final BiConsumerWithException<Chunk, Integer, Exception> onLate;
    private final EventTimeBatch batch;
    private final PendingVersions pending;
    private final VersionTable table;
    private final DueFacts dueFacts;
    private final PriorityQueue<DeferredChunk> facts =
            new PriorityQueue<>(DeferredChunk.byNextTime());
    private final PriorityQueue<DeferredChunk> versions =
            new PriorityQueue<>(DeferredChunk.byNextTime());
    private final ArrayDeque<LateChunk> late = new ArrayDeque<>();

    /** Event times up to which partitions of the restored snapshot were joined, in ms. */
    private Map<Integer, Long> restoredUpTo = Map.of();

    private long sequence;
    private long watermark = Long.MIN_VALUE;

    /** The largest watermark before the end of the input. */
    private long watermarkBeforeEnd = Long.MIN_VALUE;

    /** Watermarks that are not {@linkplain #work done}; the first is that of the current pass. */
    private final ArrayDeque<Long> watermarks = new ArrayDeque<>();

    private long doneUpTo = Long.MIN_VALUE;
    private long waitingRows;
    private long largestFactTime = Long.MIN_VALUE;

    /**
     * Creates an order without rows.
     *
     * @param log holds the waiting rows
     * @param onLate receives a chunk and the index of a late row in it, if late rows are dropped
     */
    public EventTimeOrder(
            JoinSpec spec,
            EventTimeJoin join,
            EventTimeLog log,
            Target target,
            BiConsumerWithException<Chunk, Integer, Exception> onLate) {
        this.side = spec.dimensions().get(join.dimension());
        this.join = join;
        this.log = log;
        this.target = target;
        this.onLate = onLate;
        this.batch = new EventTimeBatch(side, join.dimension(), spec.factSchema(), target);
        this.pending = new PendingVersions(join.joinsLateRows(), FullKeys.of(side));
        this.table = new VersionTable(side, join, log, target, batch, pending);
        this.dueFacts = new DueFacts(spec, join, target, batch, pending, table);
    }

    /** Returns the number of rows that are not due. */
    public long waitingRows() {
        return waitingRows;
    }

    /**
     * Returns the largest event time in ms of the facts that were not dropped, including waiting
     * facts of the restored snapshot; {@link Long#MIN_VALUE} if there were none.
     */
    public long largestFactTime() {
        return largestFactTime;
    }

    // ------------------------------------------------------------------ input

    /**
     * Writes the rows of a chunk to the log, except for late rows that are dropped.
     *
     * @param chunk facts or versions of one partition
     * @throws IllegalArgumentException if a row has no event time
     */
    public void accept(Chunk chunk) throws Exception {
        List<Integer> dropped = new ArrayList<>();
        long dropsUpTo =
                join.joinsLateRows()
                        ? Long.MIN_VALUE
                        : Math.max(watermark, restoredUpTo(chunk.partition()));
        EventTimeCursor rows =
                new EventTimeCursor(chunk, timeColumn(chunk), dropsUpTo, dropped::add);
        if (!rows.isEmpty()) {
            add(rows, log.add(rows.rest()));
        }
        for (int row : dropped) {
            onLate.accept(chunk, row);
        }
    }

    private int timeColumn(Chunk chunk) {
        return isFacts(chunk) ? join.factTimeColumn() : join.versionTimeColumn();
    }

    private static boolean isFacts(Chunk chunk) {
        return chunk.dimension() == ChunkDescriptor.FACTS;
    }

    /** A watermark may be smaller after a restore, but rows that were joined stay joined. */
    private long restoredUpTo(int partition) {
        return restoredUpTo.getOrDefault(partition, Long.MIN_VALUE);
    }

    private void add(EventTimeCursor rows, long position) {
        waitingRows += rows.size();
        boolean isFacts = isFacts(rows.chunk());
        if (isFacts) {
            largestFactTime = Math.max(largestFactTime, rows.lastTime());
        } else {
            pending.arrived(rows);
        }
        DeferredChunk chunk = new DeferredChunk(log, position, rows, sequence++);
        if (chunk.time() <= watermark) {
            late.add(new LateChunk(watermark, chunk));
        } else {
            (isFacts ? facts : versions).add(chunk);
        }
    }

    /**
     * Advances the watermark, in ms. A smaller one has no effect; {@link Long#MAX_VALUE} is the end
     * of the input.
     */
    public void advanceTo(long newWatermark) {
        if (newWatermark <= watermark) {
            return;
        }
        watermark = newWatermark;
        if (watermark != Long.MAX_VALUE) {
            watermarkBeforeEnd = watermark;
        }
        if (!join.joinsLateRows()) {
            // Which watermarks there were before has no effect on the results.
            watermarks.clear();
        }
        watermarks.add(watermark);
    }

    // ------------------------------------------------------------------ output

    /** Returns whether the watermark has advanced since {@link #work} last emitted all due rows. */
    public boolean hasWork() {
        return !watermarks.isEmpty();
    }

    /**
     * Emits rows up to the watermark while the target accepts them without waiting.
     *
     * @param maxNs time after which no further slice starts, in ns
     */
    public void work(long maxNs) throws Exception {
        long deadlineNs = System.nanoTime() + maxNs;
        while (hasWork()) {
            admitLate();
            if (!targetIsReady()) {
                return;
            }
            long upTo = sliceEnd();
            joinSlice(upTo);
            if (upTo == watermarks.element()) {
                doneUpTo = watermarks.remove();
                pending.endPass();
                target.joinedUpTo(doneUpTo);
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return;
            }
        }
    }

    private void admitLate() {
        while (!late.isEmpty() && late.peek().watermark() < watermarks.element()) {
            DeferredChunk chunk = late.remove().chunk();
            (chunk.isFacts() ? facts : versions).add(chunk);
        }
    }

    private boolean targetIsReady() {
        boolean changes =
                pending.dueCount() > 0
                        || !versions.isEmpty() && versions.peek().time() <= watermarks.element();
        return changes ? target.hasEmittedAll() : target.hasRoom();
    }

    /** Returns the event time up to which rows are emitted next, in ms. */
    private long sliceEnd() {
        long mark = watermarks.element();
        return waitingRows <= EventTimeSlice.ROWS
                ? mark
                : Math.min(EventTimeSlice.end(facts, mark), EventTimeSlice.end(versions, mark));
    }

    private void joinSlice(long upTo) throws Exception {
        List<DeferredChunk> due = new ArrayList<>();
        while (!versions.isEmpty() && versions.peek().time() <= upTo) {
            due.add(versions.remove());
        }
        // Of versions of one time, the last one counts.
        due.sort(DeferredChunk.byArrival());
        for (DeferredChunk chunk : due) {
            becomeDue(chunk, upTo);
        }
        waitingRows -= dueFacts.join(facts, upTo, this::tableUpTo);
        applyEvaluated(upTo);
        batch.emit();
    }

    private void becomeDue(DeferredChunk chunk, long upTo) throws Exception {
        while (chunk.isWaiting() && chunk.time() <= upTo) {
            pending.becameDue(chunk, watermarks.element());
            chunk.advance();
            waitingRows--;
        }
        if (chunk.isWaiting()) {
            versions.add(chunk);
        } else {
            pending.drained(chunk);
        }
    }

    /** Event time in ms up to which the table of a partition may have versions. */
    private long tableUpTo(int partition) {
        return Math.max(doneUpTo, restoredUpTo(partition));
    }

    /** Moves the newest version up to a time of each evaluated key into the table. */
    private void applyEvaluated(long upTo) throws Exception {
        boolean isPassEnd = upTo == watermarks.element();
        for (int i = pending.evaluatedCount(); i > 0; i--) {
            VersionsOfKey key = pending.nextEvaluated();
            DueVersion newest = key.at(upTo);
            if (newest != null) {
                boolean mayBeOlder = newest.time() <= tableUpTo(key.partition());
                if (!mayBeOlder
                        || isPassEnd
                                && !table.isNewerThan(key.partition(), key.key(), newest.time())) {
                    table.apply(key, newest);
                } else if (isPassEnd) {
                    pending.removeUpTo(key, newest.time());
                }
            }
            pending.removeEvaluated(!isPassEnd);
        }
    }

    // ------------------------------------------------------------------ snapshots

    /**
     * Updates the waiting rows in state, and writes up to which event time each partition is
     * joined. If late rows are dropped, the end of the input does not count, since a job restored
     * from a drained savepoint may read new rows.
     */
    public void snapshot() throws Exception {
        for (DeferredChunk chunk : facts) {
            chunk.snapshot();
        }
        for (DeferredChunk chunk : versions) {
            chunk.snapshot();
        }
        pending.snapshot(log);
        long mark = join.joinsLateRows() ? watermark : watermarkBeforeEnd;
        log.joined(partition -> Math.max(mark, restoredUpTo(partition)));
    }

    /** Reads the waiting rows of a snapshot. To be called once, before other methods. */
    public void restore() throws Exception {
        restoredUpTo =
                log.restore(
                        (chunk, position) -> {
                            int column = timeColumn(chunk);
                            add(
                                    new EventTimeCursor(chunk, column, Long.MIN_VALUE, row -> {}),
                                    position);
                        });
        if (join.joinsLateRows()) {
            log.forEachTimers(pending::restoreTimers);
        }
    }
}
