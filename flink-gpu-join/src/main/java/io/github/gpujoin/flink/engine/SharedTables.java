// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import java.util.HashMap;
import java.util.Map;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.jspecify.annotations.Nullable;

/**
 * Tables that the subtasks of one operator share in a process. One user builds them, the others
 * poll, and the last one to close frees them. If the builder fails or closes early, another user
 * builds. No call blocks. Thread-safe.
 */
final class SharedTables implements AutoCloseable {

    /** The operator whose subtasks share tables. */
    record Scope(JobID job, OperatorID operator) {}

    /**
     * Identity of tables; subtasks share tables of equal keys.
     *
     * @param location {@link ForkableJoinEngine#tableLocation}
     * @param checksums sum over all chunks, since they arrive in any order
     */
    record Key(Scope scope, Object location, long chunks, long rows, long checksums) {}

    /** Open tables by key, each with at least one user. Guarded by itself. */
    private static final Map<Key, SharedTables> OPEN = new HashMap<>();

    private final Key key;

    /** Guarded by {@link #OPEN}, like all fields. */
    private int users;

    /** The engine that builds the tables; null before {@link #claim} and after the build. */
    private @Nullable ForkableJoinEngine builder;

    /** The engine that owns the complete tables; null until they are complete. */
    private @Nullable ForkableJoinEngine built;

    private SharedTables(Key key) {
        this.key = key;
    }

    /** Adds a user of the tables of the key, who must close them. */
    static SharedTables use(Key key) {
        synchronized (OPEN) {
            SharedTables tables = OPEN.computeIfAbsent(key, SharedTables::new);
            tables.users++;
            return tables;
        }
    }

    /**
     * Appoints the engine of a user as builder, unless the tables or a builder exist.
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

    /** Called when the builder is JOINING: this object then owns the builder and its tables. */
    void complete(ForkableJoinEngine engine) {
        synchronized (OPEN) {
            built = engine;
            builder = null;
        }
    }

    /** Frees the role of the builder for another engine; ignored unless the engine has it. */
    void abandon(ForkableJoinEngine engine) {
        synchronized (OPEN) {
            if (builder == engine) {
                builder = null;
            }
        }
    }

    /** The engine that owns the complete tables; null while they are built. */
    @Nullable ForkableJoinEngine built() {
        synchronized (OPEN) {
            return built;
        }
    }

    /** Removes a user; its forks of the tables must be closed before. */
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
