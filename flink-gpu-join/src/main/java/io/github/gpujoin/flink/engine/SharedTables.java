package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.ForkableJoinEngine;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import org.apache.flink.api.common.JobID;
import org.apache.flink.runtime.jobgraph.OperatorID;

/**
 * Tables that the subtasks of one operator share in a process: the first to ask builds them, the
 * others wait, the last to close frees them. Where the build fails, the next one tries.
 */
final class SharedTables implements AutoCloseable {

    /** The operator whose subtasks share. */
    record Scope(JobID job, OperatorID operator) {}

    /**
     * Who made the tables, of what: subtasks share only where all of it agrees.
     *
     * @param place where they stand, see {@link ForkableJoinEngine#tablePlace}
     * @param checksums sum over all chunks, as they come in any order
     */
    record Key(Scope scope, Object place, long chunks, long rows, long checksums) {}

    /** By key, each with at least one user. Guarded by itself. */
    private static final Map<Key, SharedTables> OPEN = new HashMap<>();

    private final Key key;
    private final CompletableFuture<ForkableJoinEngine> built = new CompletableFuture<>();

    /** Guarded by {@link #OPEN}. */
    private int users;

    private SharedTables(Key key) {
        this.key = key;
    }

    /**
     * The tables of that key, built by this thread or by another.
     *
     * @param build makes an engine in JOINING, whose owner the tables become
     * @throws InterruptedException while another thread builds
     */
    static SharedTables acquire(Key key, Supplier<ForkableJoinEngine> build)
            throws InterruptedException {
        while (true) {
            SharedTables tables;
            boolean first;
            synchronized (OPEN) {
                tables = OPEN.computeIfAbsent(key, SharedTables::new);
                first = tables.users++ == 0;
            }
            if (first) {
                tables.build(build);
                return tables;
            }
            if (tables.awaitBuilt()) {
                return tables;
            }
        }
    }

    private void build(Supplier<ForkableJoinEngine> build) {
        try {
            built.complete(build.get());
        } catch (Throwable e) {
            synchronized (OPEN) {
                OPEN.remove(key, this);
            }
            built.completeExceptionally(e);
            throw e;
        }
    }

    /** Waits for the builder; false where it failed. */
    private boolean awaitBuilt() throws InterruptedException {
        try {
            built.get();
            return true;
        } catch (ExecutionException e) {
            return false;
        } catch (InterruptedException e) {
            // The builder is a user itself, so this does not free what it is building.
            close();
            throw e;
        }
    }

    /** An engine over the tables; to be closed before them. */
    ForkableJoinEngine fork() {
        return built.join().fork();
    }

    /** Whether the engine belongs to the tables, and is not to be closed by others. */
    boolean wereBuiltBy(ForkableJoinEngine engine) {
        return built.join() == engine;
    }

    /** Ends one use, once. */
    @Override
    public void close() {
        synchronized (OPEN) {
            users--;
            if (users > 0) {
                return;
            }
            OPEN.remove(key, this);
        }
        built.join().close();
    }
}
