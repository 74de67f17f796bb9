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

    private record LoggedPart(int dimension, int partition) {}

    /** The log of dimension rows. */
    @FunctionalInterface
    public interface Log {

        /**
         * Removes rows whose time is before another.
         *
         * @param partition {@link ChunkDescriptor#UNPARTITIONED} for a log of all partitions
         * @param deletions receives chunks that delete these rows
         * @return a lower bound of the times of the remaining rows
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
    private final ThrowingRunnable<Exception> awaitFacts;
    private final ThrowingConsumer<Chunk, Exception> delete;
    private final ProcessingTimeService time;
    private final MailboxExecutor mailbox;
    private final Counter expiredRows;

    /** A lower bound of the time of the oldest row of each log; absent if unknown. */
    private final Map<LoggedPart, Long> oldest = new HashMap<>();

    /**
     * @param isBuilding whether the engine is building its tables; rows then expire at a later tick
     * @param awaitFacts emits the results of all facts that the engine holds. They match rows that
     *     expire now; after a later failure of the engine, they would be joined with the log
     * @param delete applies deletions to the table
     */
    public DimensionExpiry(
            List<DimensionTtl> ttls,
            Log log,
            PartitionKeys keys,
            BooleanSupplier isBuilding,
            ThrowingRunnable<Exception> awaitFacts,
            ThrowingConsumer<Chunk, Exception> delete,
            ProcessingTimeService time,
            MailboxExecutor mailbox,
            Counter expiredRows) {
        this.ttls = ttls;
        this.log = log;
        this.keys = keys;
        this.isBuilding = isBuilding;
        this.awaitFacts = awaitFacts;
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
            for (LoggedPart part : parts(ttl)) {
                expire(ttl, part, dueBefore(ttl));
            }
        }
    }

    /** Removes such rows of one partition of a dimension. */
    public void restored(int dimension, int partition) throws Exception {
        for (DimensionTtl ttl : ttls) {
            if (ttl.dimension() == dimension) {
                expire(ttl, new LoggedPart(dimension, partition), dueBefore(ttl));
            }
        }
    }

    private List<LoggedPart> parts(DimensionTtl ttl) {
        List<LoggedPart> parts = new ArrayList<>();
        if (ttl.partitioned()) {
            keys.ownPartitions().forEach(p -> parts.add(new LoggedPart(ttl.dimension(), p)));
        } else {
            parts.add(new LoggedPart(ttl.dimension(), ChunkDescriptor.UNPARTITIONED));
        }
        return parts;
    }

    private long dueBefore(DimensionTtl ttl) {
        return time.getCurrentProcessingTime() - ttl.ttlMs();
    }

    private void tick(DimensionTtl ttl) {
        parts(ttl).forEach(part -> expireInMail(ttl, part));
        long nextMs = time.getCurrentProcessingTime() + Math.max(1, ttl.ttlMs() / TICKS_IN_TTL);
        time.registerTimer(nextMs, t -> tick(ttl));
    }

    private void expireInMail(DimensionTtl ttl, LoggedPart part) {
        long before = dueBefore(ttl);
        if (oldest.getOrDefault(part, Long.MIN_VALUE) < before) {
            mailbox.execute(
                    () -> {
                        if (!isBuilding.getAsBoolean()) {
                            expire(ttl, part, before);
                        }
                    },
                    "expire dimension rows");
        }
    }

    private void expire(DimensionTtl ttl, LoggedPart part, long before) throws Exception {
        awaitFacts.run();
        long left =
                log.expire(
                        part.dimension,
                        part.partition,
                        ttl.timeColumn(),
                        before,
                        deletions -> {
                            expiredRows.inc(deletions.rowCount());
                            delete.accept(deletions);
                        });
        // Rows that arrive from now on are younger.
        oldest.put(part, Math.min(left, time.getCurrentProcessingTime()));
    }
}
