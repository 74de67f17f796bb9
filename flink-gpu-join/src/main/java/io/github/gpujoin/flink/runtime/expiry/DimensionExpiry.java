// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
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
 * Removes dimension rows that have not changed for their time to live, in processing time. The log
 * holds the time of each row's last change. When its oldest row is due, a mail rereads one
 * partition of the log, so only that row's time is kept on the heap. Rows expire late by up to a
 * tenth of their time to live.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class DimensionExpiry {

    private static final int TICKS_IN_TTL = 10;

    private record Place(int dimension, int partition) {}

    /** The log of dimension rows. */
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

    /** A lower bound of the time of the oldest row of each log; absent if unknown. */
    private final Map<Place, Long> oldest = new HashMap<>();

    /**
     * @param isBuilding whether the engine is building its tables; rows then expire at a later tick
     * @param answerFacts emits the results of all facts that the engine holds. They see rows that
     *     expire now; if the engine failed later, they would be joined with the log
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

    /** The chunk for the log, with the time of the change. */
    public Chunk stamped(Chunk chunk) {
        for (DimensionTtl ttl : ttls) {
            if (ttl.dimension() == chunk.dimension()) {
                long now = time.getCurrentProcessingTime();
                return chunk.withLongs(ttl.timeColumn(), row -> now);
            }
        }
        return chunk;
    }

    /** Removes rows of a restored log that expired meanwhile; facts may already wait. */
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
        // rows that arrive from now on are younger
        oldest.put(place, Math.min(left, time.getCurrentProcessingTime()));
    }
}
