// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.flink.state.EventTimeLog;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
import org.jspecify.annotations.Nullable;

/**
 * Moves pending versions into the dimension's table, which has one version of each key. If that is
 * newer than a late fact, the older version that the fact sees replaces it for the fact; the newer
 * one becomes pending again.
 */
final class VersionTable {

    private final DimensionSpec side;
    private final FullKeys keys;
    private final EventTimeJoin join;
    private final EventTimeLog log;
    private final EventTimeOrder.Target target;
    private final EventTimeBatch batch;
    private final PendingVersions pending;
    private final TableTimes times;

    VersionTable(
            DimensionSpec side,
            EventTimeJoin join,
            EventTimeLog log,
            EventTimeOrder.Target target,
            EventTimeBatch batch,
            PendingVersions pending) {
        this.side = side;
        this.keys = FullKeys.of(side);
        this.join = join;
        this.log = log;
        this.target = target;
        this.batch = batch;
        this.pending = pending;
        this.times =
                new TableTimes(keys, join.versionTimeColumn(), target, TableTimes.limitBytes());
    }

    /** Adds a version of a key to the batch, in place of the one in the table. */
    void apply(VersionsOfKey key, DueVersion version) throws Exception {
        batch.addVersion(version.chunk(), version.indexInChunk());
        times.set(key.partition(), key.key(), version.time());
        pending.removeUpTo(key, version.time());
    }

    /** Whether the table has a version of the key that is newer than the time, in ms. */
    boolean isNewerThan(int partition, FullKey key, long time) throws Exception {
        return timeOf(partition, key) > time;
    }

    private long timeOf(int partition, FullKey key) throws Exception {
        if (!times.isLoaded(partition)) {
            // The log has what was emitted.
            batch.emit();
        }
        return times.of(partition, key);
    }

    /**
     * Joins a fact that may be older than its key's version in the table. Facts of a key come in
     * the order of time.
     */
    void joinLate(FactRow fact, FullKey key) throws Exception {
        int partition = fact.chunk().partition();
        VersionsOfKey versions = pending.of(key);
        DueVersion version = null;
        if (versions != null) {
            pending.evaluate(versions);
            version = versions.at(fact.time());
        }
        long inTable = timeOf(partition, key);
        if (inTable > fact.time()) {
            if (version == null && side.kind() == JoinKind.INNER) {
                return;
            }
            rewind(partition, key, version);
        } else if (version != null && version.time() >= inTable) {
            batch.emit();
            apply(versions, version);
        }
        batch.addFact(fact.chunk(), fact.row());
    }

    /**
     * Replaces a key's row in the table by an older version.
     *
     * @param version null for none
     */
    private void rewind(int partition, FullKey key, @Nullable DueVersion version) throws Exception {
        batch.emit();
        Chunk inTable = lastChange(partition, key);
        boolean isDeleted = inTable.getInt(side.changeColumn(), 0) == RowChange.DELETE.code();
        if (version == null && isDeleted) {
            return;
        }
        VersionsOfKey versions = pending.ofOrNew(key, partition);
        putBack(inTable, versions);
        if (version != null) {
            apply(versions, version);
            return;
        }
        ChunkBuilder deletion = new ChunkBuilder(side.schema(), 1);
        deletion.putRow(inTable, 0);
        deletion.putInt(side.changeColumn(), RowChange.DELETE.code());
        deletion.putLong(join.versionTimeColumn(), TableTimes.NEVER);
        deletion.endRow();
        batch.addVersion(deletion.seal(join.dimension(), partition, 0, 0), 0);
        times.set(partition, key, TableTimes.NEVER);
    }

    /** Returns a chunk of the row that last changed the table's row of a key. */
    private Chunk lastChange(int partition, FullKey key) throws Exception {
        ChunkBuilder[] last = new ChunkBuilder[1];
        target.forEachChange(
                partition,
                (chunk, row) -> {
                    if (keys.isEqual(key, chunk, row)) {
                        last[0] = new ChunkBuilder(side.schema(), 1);
                        last[0].addRow(chunk, row);
                    }
                });
        return last[0].seal(join.dimension(), partition, 0, 0);
    }

    private void putBack(Chunk version, VersionsOfKey key) throws Exception {
        EventTimeCursor rows =
                new EventTimeCursor(version, join.versionTimeColumn(), Long.MIN_VALUE, row -> {});
        DeferredChunk chunk = new DeferredChunk(log, log.add(version), rows, 0);
        DueVersion due = chunk.hold();
        chunk.advance();
        pending.drained(chunk);
        pending.putBack(due, key);
    }
}
