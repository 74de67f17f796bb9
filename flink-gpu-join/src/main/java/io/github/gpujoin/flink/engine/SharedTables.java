// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;

/**
 * Tables that the subtasks of one operator share in a process: one user builds them, the others
 * poll, the last to close frees them. If the builder fails or closes first, another user builds. No
 * call blocks. Thread-safe.
 */
final class SharedTables implements AutoCloseable {

    /** The operator whose subtasks share. */
    record Scope(JobID job, OperatorID operator) {}

    /**
     * Who made the tables, of what: subtasks share only where all of it agrees.
     *
     * @param place where they stand, see {@link ForkableJoinEngine#tableLocation}
     * @param checksums sum over all chunks, as they come in any order
     */
    record Key(Scope scope, Object place, long chunks, long rows, long checksums) {}

    /** By key, each with at least one user. Guarded by itself. */
    private static final Map<Key, SharedTables> OPEN = new HashMap<>();

    private final Key key;

    /** Guarded by {@link #OPEN}, as all fields. */
    private int users;

    /** The engine that makes the tables; null if none does. */
    private ForkableJoinEngine builder;

    /** The engine that owns the complete tables; null before. */
    private ForkableJoinEngine built;

    private SharedTables(Key key) {
        this.key = key;
    }

    /** The tables of that key for one more user, who closes them. */
    static SharedTables use(Key key) {
        synchronized (OPEN) {
            SharedTables tables = OPEN.computeIfAbsent(key, SharedTables::new);
            tables.users++;
            return tables;
        }
    }

    /**
     * Makes the engine of a user the builder if there are neither tables nor a builder.
     *
     * @return whether the engine is the builder
     */
    boolean claim(ForkableJoinEngine engine) {
        synchronized (OPEN) {
            if (built == null && builder == null) {
                builder = engine;
            }
            return builder == engine;
        }
    }

    /** The builder is JOINING: its tables are complete, and they own it from now on. */
    void complete(ForkableJoinEngine engine) {
        synchronized (OPEN) {
            built = engine;
            builder = null;
        }
    }

    /** The engine does not complete the tables, if it is the builder. */
    void giveUp(ForkableJoinEngine engine) {
        synchronized (OPEN) {
            if (builder == engine) {
                builder = null;
            }
        }
    }

    /** The engine that owns the complete tables; null while they are built. */
    ForkableJoinEngine built() {
        synchronized (OPEN) {
            return built;
        }
    }

    /** Ends one use, once; forks of the tables are closed before. */
    @Override
    public void close() {
        ForkableJoinEngine unused;
        synchronized (OPEN) {
            users--;
            if (users > 0) {
                return;
            }
            OPEN.remove(key, this);
            unused = built;
        }
        if (unused != null) {
            unused.close();
        }
    }
}
