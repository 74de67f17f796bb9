// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.state.EventTimeLog;
import io.github.gpujoin.flink.state.FullKey;
import io.github.gpujoin.flink.state.FullKeys;
import java.util.ArrayDeque;
import java.util.Collections;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Versions that are not in the table, by key. If late rows are joined, the key of each waiting
 * version has an entry, else only those of due ones.
 *
 * <p>Late facts see versions that are still kept, so which ones are kept is part of the semantics,
 * and equals Flink's join. A watermark evaluates a key if it reaches a fact of it, or a version
 * that arrived since the key was last evaluated. Only an evaluation moves versions into the table,
 * where each replaces an older one. So a key that is not evaluated keeps its older versions, and
 * due ones remain here.
 */
final class PendingVersions {

    private final boolean joinsLateRows;
    private final FullKeys keys;
    private final VersionsByKey versionsByKey = new VersionsByKey();

    /** Evaluated keys with due versions. */
    private final ArrayDeque<VersionsOfKey> evaluated = new ArrayDeque<>();

    /** Chunks that only hold due versions. */
    private final Set<DeferredChunk> drained = Collections.newSetFromMap(new IdentityHashMap<>());

    private long pass;
    private long dueCount;

    /**
     * @param keys of versions
     */
    PendingVersions(boolean joinsLateRows, FullKeys keys) {
        this.joinsLateRows = joinsLateRows;
        this.keys = keys;
    }

    /** Adds the rows of a chunk that arrives. */
    void arrived(EventTimeCursor rows) {
        if (joinsLateRows) {
            rows.forEach(row -> ofOrNew(rows.chunk(), row).arrived(rows.timeOf(row)));
        }
    }

    private VersionsOfKey ofOrNew(Chunk chunk, int row) {
        VersionsOfKey versions = versionsByKey.get(keys, chunk, row);
        return versions == null ? add(keys.get(chunk, row), chunk.partition()) : versions;
    }

    private VersionsOfKey add(FullKey key, int partition) {
        VersionsOfKey versions = new VersionsOfKey(key, partition);
        versionsByKey.add(versions);
        return versions;
    }

    /**
     * Returns the versions of a fact's key, or null if there are none.
     *
     * @param factKeys of facts
     */
    @Nullable VersionsOfKey of(FullKeys factKeys, Chunk facts, int row) {
        return versionsByKey.get(factKeys, facts, row);
    }

    /** Returns the versions of a key, or null if there are none. */
    @Nullable VersionsOfKey of(FullKey key) {
        return versionsByKey.get(key);
    }

    /**
     * Adds the next row of a chunk, which the watermark has passed.
     *
     * @param next chunk at the row
     */
    void becameDue(DeferredChunk next, long watermark) throws Exception {
        VersionsOfKey versions = ofOrNew(next.rows().chunk(), next.rows().row());
        if (joinsLateRows) {
            versions.removeWaiting();
        }
        dueCount++;
        release(versions.put(next.hold()));
        if (!joinsLateRows || versions.mustEvaluate(pass, watermark)) {
            evaluate(versions);
        }
    }

    /**
     * Adds a version that was in the table, unless one of its time arrived after it.
     *
     * @param version the only row of its chunk
     */
    void putBack(DueVersion version, VersionsOfKey versions) throws Exception {
        dueCount++;
        if (versions.putIfAbsent(version) != null) {
            release(version);
        }
        evaluate(versions);
    }

    /** Returns the versions of a key, for a version to be {@linkplain #putBack put back}. */
    VersionsOfKey ofOrNew(FullKey key, int partition) {
        VersionsOfKey versions = of(key);
        return versions == null ? add(key, partition) : versions;
    }

    /** Records that the current pass evaluates a key, which {@link #nextEvaluated} returns. */
    void evaluate(VersionsOfKey versions) {
        versions.evaluate(pass);
        if (versions.hasDue() && versions.queue()) {
            evaluated.add(versions);
        }
    }

    /** Count of versions that are due. */
    long dueCount() {
        return dueCount;
    }

    /** Count of evaluated keys with due versions. */
    int evaluatedCount() {
        return evaluated.size();
    }

    /** Returns a key that was evaluated and may have due versions. */
    VersionsOfKey nextEvaluated() {
        return evaluated.element();
    }

    /**
     * Removes the key that {@link #nextEvaluated} returned from the keys that it returns.
     *
     * @param again whether to return it once more if it has due versions
     */
    void removeEvaluated(boolean again) {
        VersionsOfKey versions = evaluated.remove();
        if (versions.hasDue() && again) {
            evaluated.add(versions);
            return;
        }
        versions.dequeue();
        if (versions.isEmpty()) {
            versionsByKey.remove(versions);
        }
    }

    /** Starts another pass, for the next watermark. */
    void endPass() {
        pass++;
    }

    /** Removes the due versions of a key up to a time, in ms. */
    void removeUpTo(VersionsOfKey versions, long time) throws Exception {
        for (DueVersion v = versions.removeUpTo(time); v != null; v = versions.removeUpTo(time)) {
            release(v);
        }
    }

    private void release(@Nullable DueVersion version) throws Exception {
        if (version == null) {
            return;
        }
        dueCount--;
        if (version.release()) {
            drained.remove(version.rows());
        }
    }

    /** Records that all rows of a chunk are due. */
    void drained(DeferredChunk chunk) throws Exception {
        if (chunk.endRows()) {
            drained.add(chunk);
        }
    }

    /** Writes the timers of keys, and the due versions, to the state. */
    void snapshot(EventTimeLog log) throws Exception {
        for (DeferredChunk chunk : drained) {
            chunk.snapshot();
        }
        if (!joinsLateRows) {
            return;
        }
        Map<Integer, KeyTimers> timers = new HashMap<>();
        versionsByKey.forEach(
                each -> {
                    if (each.timerIsLater()) {
                        timers.computeIfAbsent(
                                        each.partition(), p -> new KeyTimers(keys.areHashed()))
                                .add(each.key(), each.timer());
                    }
                });
        log.timers(
                partition ->
                        timers.containsKey(partition)
                                ? timers.get(partition).toArray()
                                : new long[0]);
    }

    /**
     * Restores timers, after the rows of the snapshot have been added.
     *
     * @param timers of a partition, as {@link KeyTimers} has them
     */
    void restoreTimers(long[] timers) {
        KeyTimers.read(
                timers,
                keys.areHashed(),
                (key, time) -> {
                    VersionsOfKey versions = of(key);
                    if (versions != null) {
                        versions.restoreTimer(time);
                    }
                });
    }
}
