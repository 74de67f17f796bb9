// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.PriorityQueue;
import org.jspecify.annotations.Nullable;

/**
 * Joins facts up to a time, with all versions up to that time pending. Facts whose key has none see
 * the table as it is, so their order does not matter, and whole chunks of them are emitted as they
 * arrived. The others follow in rounds: in each, one version of each key and the facts that see it.
 * Late facts come first, one after the other, since the table may be newer.
 */
final class DueFacts {

    /** Rows of a chunk below which it is merged with others. */
    private static final int MIN_CHUNK_ROWS = 256;

    private final FullKeys keys;
    private final int keyBit;
    private final int nullKeysColumn;
    private final EventTimeOrder.Target target;
    private final EventTimeBatch batch;
    private final PendingVersions pending;
    private final VersionTable table;

    /** Keys with versions that facts see. */
    private final ArrayDeque<VersionsOfKey> seen = new ArrayDeque<>();

    DueFacts(
            JoinSpec spec,
            EventTimeJoin join,
            EventTimeOrder.Target target,
            EventTimeBatch batch,
            PendingVersions pending,
            VersionTable table) {
        this.keys =
                new FullKeys(
                        spec.factSchema(),
                        spec.dimensions().get(join.dimension()).factKeyColumn(),
                        join.factKeyBytesColumn());
        this.keyBit = join.dimension();
        this.nullKeysColumn = spec.nullKeysColumn();
        this.target = target;
        this.batch = batch;
        this.pending = pending;
        this.table = table;
    }

    /**
     * Emits the facts of a queue up to a time, and the versions that they see.
     *
     * @param queue of facts by event time, from which due rows are removed
     * @param lateUpTo facts up to this time may be older than the table
     * @return number of facts
     */
    long join(PriorityQueue<DeferredChunk> queue, long upTo, LateBound lateUpTo) throws Exception {
        List<DeferredChunk> chunks = new ArrayList<>();
        while (!queue.isEmpty() && queue.peek().time() <= upTo) {
            chunks.add(queue.remove());
        }
        List<FactRow> late = new ArrayList<>();
        long count = 0;
        for (DeferredChunk chunk : chunks) {
            long bound = Math.min(upTo, lateUpTo.of(chunk.partition()));
            while (chunk.isWaiting() && chunk.time() <= bound) {
                late.add(new FactRow(chunk.rows().chunk(), chunk.rows().row(), chunk.time()));
                chunk.advance();
                count++;
            }
        }
        joinLate(late);
        for (DeferredChunk chunk : chunks) {
            count += chunk.isWaiting() ? add(chunk, upTo, lateUpTo.of(chunk.partition())) : 0;
            if (chunk.isWaiting()) {
                queue.add(chunk);
            } else {
                chunk.endRows();
            }
        }
        emitRounds();
        return count;
    }

    /** Largest event time in ms of versions in the table of a partition, or a larger one. */
    @FunctionalInterface
    interface LateBound {
        long of(int partition);
    }

    private void joinLate(List<FactRow> late) throws Exception {
        late.sort(Comparator.comparingLong(FactRow::time));
        for (FactRow fact : late) {
            if (isNullKey(fact.chunk(), fact.row())) {
                batch.addFact(fact.chunk(), fact.row());
            } else {
                table.joinLate(fact, keys.get(fact.chunk(), fact.row()));
            }
        }
        batch.emit();
    }

    private long add(DeferredChunk facts, long upTo, long lateUpTo) throws Exception {
        EventTimeCursor rows = facts.rows();
        if (rows.isWhole()
                && rows.size() >= MIN_CHUNK_ROWS
                && rows.lastTime() <= upTo
                && allSeeTheTable(rows.chunk(), rows, lateUpTo)) {
            target.facts(rows.chunk());
            return facts.advanceToEnd();
        }
        long count = 0;
        Chunk chunk = rows.chunk();
        while (facts.isWaiting() && facts.time() <= upTo) {
            int row = rows.row();
            DueVersion version = version(chunk, row, facts.time(), lateUpTo);
            if (version == null) {
                batch.addFact(chunk, row);
            } else {
                version.addFact(new FactRow(chunk, row, facts.time()));
            }
            facts.advance();
            count++;
        }
        return count;
    }

    private boolean allSeeTheTable(Chunk chunk, EventTimeCursor rows, long lateUpTo)
            throws Exception {
        for (int row = 0; row < chunk.rowCount(); row++) {
            if (version(chunk, row, rows.timeOf(row), lateUpTo) != null) {
                return false;
            }
        }
        return true;
    }

    /** Returns the pending version that a fact sees, or null if it sees the table's. */
    private @Nullable DueVersion version(Chunk chunk, int row, long time, long lateUpTo)
            throws Exception {
        VersionsOfKey versions = pending.of(keys, chunk, row);
        if (versions == null || isNullKey(chunk, row)) {
            return null;
        }
        pending.evaluate(versions);
        DueVersion version = versions.at(time);
        if (version == null
                || version.time() <= lateUpTo
                        && table.isNewerThan(chunk.partition(), versions.key(), version.time())) {
            return null;
        }
        if (versions.markSeen()) {
            seen.add(versions);
        }
        return version;
    }

    private void emitRounds() throws Exception {
        batch.emit();
        while (!seen.isEmpty()) {
            for (int i = seen.size(); i > 0; i--) {
                VersionsOfKey key = seen.remove();
                DueVersion version = key.firstWithFacts();
                if (version == null) {
                    key.endSeen();
                    continue;
                }
                List<FactRow> facts = version.facts();
                table.apply(key, version);
                for (FactRow fact : facts) {
                    batch.addFact(fact.chunk(), fact.row());
                }
                seen.add(key);
            }
            batch.emit();
        }
    }

    private boolean isNullKey(Chunk chunk, int row) {
        return nullKeysColumn != JoinSpec.NO_NULL_KEYS
                && (chunk.getInt(nullKeysColumn, row) >> keyBit & 1) != 0;
    }
}
