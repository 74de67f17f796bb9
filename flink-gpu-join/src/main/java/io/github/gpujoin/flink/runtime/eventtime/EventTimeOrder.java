// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.flink.state.EventTimeLog;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import org.apache.flink.util.function.BiConsumerWithException;
import org.jspecify.annotations.Nullable;

/**
 * Sorts facts and versions of a dimension by event time. It emits rows up to the watermark, a
 * version before the facts of its time; later rows wait. A row that arrives at or behind the
 * watermark is late. When a fact is joined, the dimension's table holds the version of the fact's
 * time, so any engine that applies changes can join by event time.
 *
 * <p>Rows are emitted in batches, the versions of a batch before its facts. A version may precede
 * earlier facts of other keys, but not of its own. Each key of a fact sets one bit of a hash; if a
 * version's key has the bit of another key, the batch ends early.
 *
 * <pre>
 *   time      1     2     3     4     5     6
 *             a=1   ?b    b=7   ?a    ?c    a=2      (x=n version of key x, ?x fact)
 *   batches   a=1 ?b  |  b=7 ?a ?c  |  a=2
 * </pre>
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

    private static final int CHUNK_BYTES = 16 << 10;
    private static final int KEY_BITS = 1 << 16;

    private final DimensionSpec side;
    private final EventTimeJoin join;
    private final Target target;
    private final EventTimeLog log;
    private final BiConsumerWithException<Chunk, Integer, Exception> onLate;
    private final Batch versionBatch;
    private final Batch factBatch;
    private final PriorityQueue<DeferredChunk> facts =
            new PriorityQueue<>(DeferredChunk.byNextTime());
    private final PriorityQueue<DeferredChunk> versions =
            new PriorityQueue<>(DeferredChunk.byNextTime());

    /** Bits of the keys of {@link #factBatch}. */
    private final BitSet factKeys = new BitSet(KEY_BITS);

    /** Event times up to which partitions of the restored snapshot were joined, in ms. */
    private Map<Integer, Long> restoredUpTo = Map.of();

    private long sequence;
    private long watermark = Long.MIN_VALUE;

    /** The largest watermark before the end of the input. */
    private long watermarkBeforeEnd = Long.MIN_VALUE;

    private long doneUpTo = Long.MIN_VALUE;
    private long waitingRows;
    private long largestFactTime = Long.MIN_VALUE;

    /** Rows of a side that are emitted together, in one chunk a partition. */
    private static final class Batch {
        private final ChunkSchema schema;
        private final int dimension;
        private final Map<Integer, ChunkBuilder> builders = new HashMap<>();

        Batch(ChunkSchema schema, int dimension) {
            this.schema = schema;
            this.dimension = dimension;
        }

        /** Adds the cursor's row; returns whether its chunk is full now. */
        boolean add(EventTimeCursor next) {
            ChunkBuilder builder =
                    builders.computeIfAbsent(
                            next.chunk().partition(), p -> new ChunkBuilder(schema, CHUNK_BYTES));
            builder.addRow(next.chunk(), next.row());
            return builder.isFull();
        }

        List<Chunk> seal() {
            List<Chunk> chunks = new ArrayList<>();
            builders.forEach(
                    (partition, builder) -> {
                        if (!builder.isEmpty()) {
                            chunks.add(builder.seal(dimension, partition, 0, 0));
                        }
                    });
            return chunks;
        }
    }

    /**
     * Creates an order without rows.
     *
     * @param log holds the waiting rows
     * @param onLate receives a chunk and the index of a late row in it
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
        this.versionBatch = new Batch(side.schema(), join.dimension());
        this.factBatch = new Batch(spec.factSchema(), ChunkDescriptor.FACTS);
    }

    /** Returns the number of rows that have not been emitted. */
    public long waitingRows() {
        return waitingRows;
    }

    /**
     * Returns the largest event time in ms of the facts that were not late, including waiting facts
     * of the restored snapshot; {@link Long#MIN_VALUE} if there were none.
     */
    public long largestFactTime() {
        return largestFactTime;
    }

    // ------------------------------------------------------------------ input

    /**
     * Writes the rows of a chunk to the log, except for late rows.
     *
     * @param chunk facts or versions of one partition
     * @throws IllegalArgumentException if a row has no event time
     */
    public void accept(Chunk chunk) throws Exception {
        List<Integer> late = new ArrayList<>();
        long joined = joinedUpTo(chunk.partition(), watermark);
        EventTimeCursor rows = new EventTimeCursor(chunk, timeColumn(chunk), joined, late::add);
        if (!rows.isEmpty()) {
            add(rows, log.add(rows.rest()));
        }
        for (int row : late) {
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
    private long joinedUpTo(int partition, long mark) {
        return Math.max(mark, restoredUpTo.getOrDefault(partition, Long.MIN_VALUE));
    }

    private void add(EventTimeCursor rows, long position) {
        waitingRows += rows.size();
        boolean isFacts = isFacts(rows.chunk());
        if (isFacts) {
            largestFactTime = Math.max(largestFactTime, rows.lastTime());
        }
        (isFacts ? facts : versions).add(new DeferredChunk(log, position, rows, sequence++));
    }

    /**
     * Advances the watermark, in ms. A smaller one has no effect; {@link Long#MAX_VALUE} is the end
     * of the input.
     */
    public void advanceTo(long newWatermark) {
        watermark = Math.max(watermark, newWatermark);
        if (watermark != Long.MAX_VALUE) {
            watermarkBeforeEnd = watermark;
        }
    }

    // ------------------------------------------------------------------ output

    /** Returns whether the watermark has advanced since {@link #work} last emitted all due rows. */
    public boolean hasWork() {
        return watermark > doneUpTo;
    }

    /**
     * Emits rows up to the watermark while the target accepts them without waiting.
     *
     * @param maxNs time after which no further batch starts, in ns
     */
    public void work(long maxNs) throws Exception {
        long deadlineNs = System.nanoTime() + maxNs;
        while (hasWork() && targetIsReady()) {
            boolean full = fillBatch();
            emitBatch();
            if (!full) {
                doneUpTo = watermark;
                target.joinedUpTo(doneUpTo);
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return;
            }
        }
    }

    private boolean targetIsReady() {
        return due(versions) == null ? target.hasRoom() : target.hasEmittedAll();
    }

    /** Fills the batch; returns false if no row is left up to the watermark. */
    private boolean fillBatch() throws Exception {
        while (true) {
            DeferredChunk version = due(versions);
            DeferredChunk fact = due(facts);
            if (version == null && fact == null) {
                return false;
            }
            if (fact == null || version != null && version.time() <= fact.time()) {
                int bit = keyBit(version.rows(), side.keyColumn());
                if (factKeys.get(bit) || moveNext(versions, versionBatch)) {
                    return true;
                }
            } else {
                factKeys.set(keyBit(fact.rows(), side.factKeyColumn()));
                if (moveNext(facts, factBatch)) {
                    return true;
                }
            }
        }
    }

    private @Nullable DeferredChunk due(PriorityQueue<DeferredChunk> queue) {
        DeferredChunk first = queue.peek();
        return first == null || first.time() > watermark ? null : first;
    }

    private static int keyBit(EventTimeCursor rows, int column) {
        return SlotHash.slot(SlotHash.hash(rows.chunk().getLong(column, rows.row())), KEY_BITS);
    }

    /** Moves the queue's next row into the batch; returns whether the batch is full. */
    private boolean moveNext(PriorityQueue<DeferredChunk> queue, Batch batch) throws Exception {
        DeferredChunk chunk = queue.remove();
        boolean full = batch.add(chunk.rows());
        waitingRows--;
        if (chunk.advance()) {
            queue.add(chunk);
        }
        return full;
    }

    private void emitBatch() throws Exception {
        for (Chunk chunk : versionBatch.seal()) {
            target.change(chunk);
        }
        for (Chunk chunk : factBatch.seal()) {
            target.facts(chunk);
        }
        factKeys.clear();
    }

    // ------------------------------------------------------------------ snapshots

    /**
     * Updates the waiting rows in state, and writes up to which event time each partition is
     * joined. The end of the input does not count, since a job restored from a drained savepoint
     * may read new rows.
     */
    public void snapshot() throws Exception {
        for (DeferredChunk chunk : facts) {
            chunk.snapshot();
        }
        for (DeferredChunk chunk : versions) {
            chunk.snapshot();
        }
        log.joined(partition -> joinedUpTo(partition, watermarkBeforeEnd));
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
    }
}
