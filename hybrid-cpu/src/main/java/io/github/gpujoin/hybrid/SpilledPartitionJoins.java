// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.ResultBatch;
import java.util.function.Consumer;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Joins probe chunks of spilled partitions, one partition at a time.
 *
 * <p>The temporary tables of a partition stay until another partition needs them, or no chunk of a
 * spilled partition is left. Not thread-safe.
 */
final class SpilledPartitionJoins implements AutoCloseable {

    private final Function<HybridProbe, SpilledPartitionJoin> opener;
    private final Consumer<JoinEngine> drainGroups;

    /** Null before the first chunk. */
    private @Nullable SpilledPartitionJoin current;

    /**
     * @param opener starts the join of the partitions of a chunk
     * @param drainGroups drains the groups of an engine that waits for that
     */
    SpilledPartitionJoins(
            Function<HybridProbe, SpilledPartitionJoin> opener, Consumer<JoinEngine> drainGroups) {
        this.opener = opener;
        this.drainGroups = drainGroups;
    }

    /**
     * Frees the temporary tables if no probe of a spilled partition is left, since others of the
     * process may wait for the memory.
     */
    void closeIfUnused(Iterable<HybridProbe> queue) {
        if (current == null) {
            return;
        }
        for (HybridProbe probe : queue) {
            if (!probe.partitionGroup().tier().hasTables()) {
                return;
            }
        }
        close();
    }

    /** Polls the join of the partitions of {@code head}; see {@link SpilledPartitionJoin#poll}. */
    @Nullable ResultBatch poll(HybridProbe head) {
        if (current == null || !current.isOf(head)) {
            close();
            current = opener.apply(head);
            return null; // until the memory of the last tables is free
        }
        ResultBatch batch = current.poll(head);
        if (batch == null && current.engine() != null && current.engine().awaitsDrain()) {
            drainGroups();
        }
        return batch;
    }

    /**
     * Drains the groups of the current join, if no probe is in flight or there are too many groups.
     */
    void drainGroups() {
        if (current != null && current.engine() != null) {
            drainGroups.accept(current.engine());
        }
    }

    /** Ends the current join; its last batch may still be read. */
    @Override
    public void close() {
        if (current != null) {
            current.close();
            current = null;
        }
    }
}
