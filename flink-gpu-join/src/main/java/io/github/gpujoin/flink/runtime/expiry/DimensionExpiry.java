package io.github.gpujoin.flink.runtime.expiry;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.state.PartitionKeys;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import org.apache.flink.api.common.operators.MailboxExecutor;
import org.apache.flink.metrics.Counter;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingConsumer;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * Takes rows of dimensions away that were not changed for their time to live, in processing time.
 * The log says when each row was changed; it is read anew, a partition in a mail, when its oldest
 * row is due, so nothing but that row's time is kept beside it. Rows go up to a tenth of their time
 * to live late.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class DimensionExpiry {

    private static final int TICKS_IN_TTL = 10;

    private record Place(int dimension, int partition) {}

    /** Where rows are logged. */
    @FunctionalInterface
    public interface Log {

        /**
         * Removes rows whose time is before another.
         *
         * @param partition {@link ChunkDescriptor#UNPARTITIONED} for a log of all partitions
         * @param deletions receives chunks that delete these rows
         * @return the smallest time of a row that is left, or an earlier one
         */
        long expire(
                int dimension,
                int partition,
                int timeColumn,
                long before,
                ThrowingConsumer<Chunk, Exception> deletions)
                throws Exception;
    }

    private final List<DimensionTtl> ttls;
    private final Log log;
    private final PartitionKeys keys;
    private final BooleanSupplier isBuilding;
    private final ThrowingRunnable<Exception> answerFacts;
    private final ThrowingConsumer<Chunk, Exception> delete;
    private final ProcessingTimeService time;
    private final MailboxExecutor mailbox;
    private final Counter expiredRows;

    /** When the oldest row of a log was changed, or earlier; none where that is not known. */
    private final Map<Place, Long> oldest = new HashMap<>();

    /**
     * @param isBuilding whether the engine is building its tables; rows then expire at a later tick
     * @param answerFacts has the engine answer all facts that it has. They see rows that expire
     *     now, and where the engine fails it is the log that they are joined with
     * @param delete applies deletions to the table
     */
    public DimensionExpiry(
            List<DimensionTtl> ttls,
            Log log,
            PartitionKeys keys,
            BooleanSupplier isBuilding,
            ThrowingRunnable<Exception> answerFacts,
            ThrowingConsumer<Chunk, Exception> delete,
            ProcessingTimeService time,
            MailboxExecutor mailbox,
            Counter expiredRows) {
        this.ttls = ttls;
        this.log = log;
        this.keys = keys;
        this.isBuilding = isBuilding;
        this.answerFacts = answerFacts;
        this.delete = delete;
        this.time = time;
        this.mailbox = mailbox;
        this.expiredRows = expiredRows;
        ttls.forEach(ttl -> time.registerTimer(time.getCurrentProcessingTime(), t -> tick(ttl)));
    }

    /** The chunk as it is to stand in the log. */
    public Chunk stamped(Chunk chunk) {
        for (DimensionTtl ttl : ttls) {
            if (ttl.dimension() == chunk.dimension()) {
                long now = time.getCurrentProcessingTime();
                return chunk.withLongs(ttl.timeColumn(), row -> now);
            }
        }
        return chunk;
    }

    /** Takes rows of a restored log away whose time ended before; facts may wait to be joined. */
    public void restored() throws Exception {
        for (DimensionTtl ttl : ttls) {
            for (Place place : places(ttl)) {
                expire(ttl, place, dueBefore(ttl));
            }
        }
    }

    /** As {@link #restored()}, of one partition of a dimension. */
    public void restored(int dimension, int partition) throws Exception {
        for (DimensionTtl ttl : ttls) {
            if (ttl.dimension() == dimension) {
                expire(ttl, new Place(dimension, partition), dueBefore(ttl));
            }
        }
    }

    private List<Place> places(DimensionTtl ttl) {
        List<Place> places = new ArrayList<>();
        if (ttl.partitioned()) {
            keys.ownPartitions().forEach(p -> places.add(new Place(ttl.dimension(), p)));
        } else {
            places.add(new Place(ttl.dimension(), ChunkDescriptor.UNPARTITIONED));
        }
        return places;
    }

    private long dueBefore(DimensionTtl ttl) {
        return time.getCurrentProcessingTime() - ttl.ttlMs();
    }

    private void tick(DimensionTtl ttl) {
        places(ttl).forEach(place -> expireInMail(ttl, place));
        long nextMs = time.getCurrentProcessingTime() + Math.max(1, ttl.ttlMs() / TICKS_IN_TTL);
        time.registerTimer(nextMs, t -> tick(ttl));
    }

    private void expireInMail(DimensionTtl ttl, Place place) {
        long before = dueBefore(ttl);
        if (oldest.getOrDefault(place, Long.MIN_VALUE) < before) {
            mailbox.execute(
                    () -> {
                        if (!isBuilding.getAsBoolean()) {
                            expire(ttl, place, before);
                        }
                    },
                    "expire dimension rows");
        }
    }

    private void expire(DimensionTtl ttl, Place place, long before) throws Exception {
        answerFacts.run();
        long left =
                log.expire(
                        place.dimension,
                        place.partition,
                        ttl.timeColumn(),
                        before,
                        deletions -> {
                            expiredRows.inc(deletions.rowCount());
                            delete.accept(deletions);
                        });
        // what comes from now on is younger than now
        oldest.put(place, Math.min(left, time.getCurrentProcessingTime()));
    }
}
