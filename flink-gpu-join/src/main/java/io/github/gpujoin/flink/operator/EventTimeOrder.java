package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.KeyHash;
import io.github.gpujoin.flink.checkpoint.EventTimeLog;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.stream.Stream;
import org.apache.flink.util.function.BiConsumerWithException;

/**
 * Puts facts and versions of a dimension into the order of their event times: what is before the
 * watermark goes on, a version in front of the facts of its time, and the rest waits. So the
 * dimension's table need only hold what is valid at one time, and each engine that applies changes
 * joins by event time.
 *
 * <p>Rows go on in batches, first the versions and then the facts: a version is not put in front of
 * a fact before it that has its key, but of others it may be. Keys are told apart by a bit of their
 * hash; where two share one, a batch only ends sooner.
 *
 * <pre>
 *   time      1     2     3     4     5     6
 *             a=1   ?b    b=7   ?a    ?c    a=2      (x=n version of key x, ?x fact)
 *   batches   a=1 ?b  |  b=7 ?a ?c  |  a=2
 * </pre>
 *
 * <p>Rows that wait are on the heap. Runs in the task's mailbox thread.
 */
final class EventTimeOrder {

    /** Where batches go. */
    interface Target {

        /** A change that comes behind all facts so far. */
        void change(Chunk versions) throws Exception;

        void facts(Chunk facts) throws Exception;

        /** All facts up to the time went on. */
        void joinedUpTo(long time) throws Exception;
    }

    private static final int CHUNK_BYTES = 16 << 10;
    private static final int KEY_BITS = 1 << 16;

    private final DimensionSpec side;
    private final EventTimeJoin join;
    private final Target target;
    private final BiConsumerWithException<Chunk, Integer, Exception> onLate;
    private final Batch versionBatch;
    private final Batch factBatch;
    private final PriorityQueue<TimedRows> facts = new PriorityQueue<>(TimedRows.byNextTime());
    private final PriorityQueue<TimedRows> versions = new PriorityQueue<>(TimedRows.byNextTime());

    /** Bits of the keys of {@link #factBatch}. */
    private final BitSet factKeys = new BitSet(KEY_BITS);

    /** Of partitions of a restored snapshot that was further than the watermark is. */
    private Map<Integer, Long> restoredUpTo = Map.of();

    private long sequence;
    private long watermark = Long.MIN_VALUE;
    private long doneUpTo = Long.MIN_VALUE;
    private long waitingRows;

    /** Rows of a side that go on together, in a chunk for each partition. */
    private static final class Batch {
        private final ChunkSchema schema;
        private final int dimension;
        private final Map<Integer, ChunkBuilder> builders = new HashMap<>();

        Batch(ChunkSchema schema, int dimension) {
            this.schema = schema;
            this.dimension = dimension;
        }

        /** Whether the chunk is full now. */
        boolean add(TimedRows next) {
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
     * @param onLate given a chunk and a row of it whose time was joined already
     */
    EventTimeOrder(
            JoinSpec spec,
            EventTimeJoin join,
            Target target,
            BiConsumerWithException<Chunk, Integer, Exception> onLate) {
        this.side = spec.dimensions().get(join.dimension());
        this.join = join;
        this.target = target;
        this.onLate = onLate;
        this.versionBatch = new Batch(side.schema(), join.dimension());
        this.factBatch = new Batch(spec.factSchema(), ChunkDescriptor.FACTS);
    }

    /** Rows that wait for their time. */
    long waitingRows() {
        return waitingRows;
    }

    // ------------------------------------------------------------------ what comes

    /** Takes a chunk of facts, or of versions. */
    void accept(Chunk chunk) throws Exception {
        List<Integer> late = new ArrayList<>();
        boolean isFacts = chunk.dimension() == ChunkDescriptor.FACTS;
        long joined = joinedUpTo(chunk.partition());
        int column = isFacts ? join.factTimeColumn() : join.versionTimeColumn();
        TimedRows rows = new TimedRows(chunk, column, sequence++, joined, late::add);
        add(isFacts ? facts : versions, rows);
        for (int row : late) {
            onLate.accept(chunk, row);
        }
    }

    /** Watermarks may start anew after a restore; what was joined before stays joined. */
    private long joinedUpTo(int partition) {
        return Math.max(watermark, restoredUpTo.getOrDefault(partition, Long.MIN_VALUE));
    }

    private void add(PriorityQueue<TimedRows> queue, TimedRows rows) {
        if (!rows.isEmpty()) {
            waitingRows += rows.size();
            queue.add(rows);
        }
    }

    /** No row of this time or before it comes any more. */
    void advanceTo(long newWatermark) {
        watermark = Math.max(watermark, newWatermark);
    }

    // ------------------------------------------------------------------ what goes on

    boolean hasWork() {
        return watermark > doneUpTo;
    }

    /** Lets rows up to the watermark go on, for about that long at most. */
    void work(long forNs) throws Exception {
        long deadlineNs = System.nanoTime() + forNs;
        while (hasWork()) {
            boolean full = nextBatch();
            sendBatch();
            if (!full) {
                doneUpTo = watermark;
                target.joinedUpTo(doneUpTo);
            }
            if (System.nanoTime() - deadlineNs > 0) {
                return;
            }
        }
    }

    /** Fills the batch; false where no row is left up to the watermark. */
    private boolean nextBatch() {
        while (true) {
            TimedRows version = due(versions);
            TimedRows fact = due(facts);
            if (version == null && fact == null) {
                return false;
            }
            if (fact == null || version != null && version.time() <= fact.time()) {
                int bit = keyBit(version.chunk(), side.keyColumn(), version.row());
                if (factKeys.get(bit) || take(versions, versionBatch)) {
                    return true;
                }
            } else {
                factKeys.set(keyBit(fact.chunk(), side.factKeyColumn(), fact.row()));
                if (take(facts, factBatch)) {
                    return true;
                }
            }
        }
    }

    private TimedRows due(PriorityQueue<TimedRows> queue) {
        TimedRows first = queue.peek();
        return first == null || first.time() > watermark ? null : first;
    }

    private static int keyBit(Chunk chunk, int column, int row) {
        return KeyHash.slot(KeyHash.hash(chunk.getLong(column, row)), KEY_BITS);
    }

    /** Puts the queue's next row into the batch; whether that is full now. */
    private boolean take(PriorityQueue<TimedRows> queue, Batch batch) {
        TimedRows rows = queue.remove();
        boolean full = batch.add(rows);
        rows.advance();
        waitingRows--;
        if (!rows.isEmpty()) {
            queue.add(rows);
        }
        return full;
    }

    private void sendBatch() throws Exception {
        for (Chunk chunk : versionBatch.seal()) {
            target.change(chunk);
        }
        for (Chunk chunk : factBatch.seal()) {
            target.facts(chunk);
        }
        factKeys.clear();
    }

    // ------------------------------------------------------------------ snapshots

    void snapshot(EventTimeLog log) throws Exception {
        List<Chunk> waiting =
                Stream.concat(facts.stream(), versions.stream())
                        .sorted(TimedRows.byArrival())
                        .map(TimedRows::rest)
                        .toList();
        log.write(waiting, this::joinedUpTo);
    }

    void restore(EventTimeLog log) throws Exception {
        restoredUpTo = log.restore(this::accept);
    }
}
