// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.engine.EngineUnavailableException.Scope;
import io.github.gpujoin.core.engine.ForkableJoinEngine;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.TableMemory;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The engines of a memory tier: creates them, shares the replicated tables among them, and
 * estimates table sizes.
 *
 * <p>A failed tier behaves like one without memory. Not thread-safe, except for {@link #failure()}
 * and {@link #shared()}.
 */
final class TierEngines implements AutoCloseable {

    /** Peak memory of building a table, for each byte of build rows: the rows and the table. */
    static final double PEAK = 2.5;

    /** Retries cover a short lack of memory, since other joins allocate and free theirs. */
    private static final int MIN_ATTEMPTS = 3;

    /** The host has no fallback, so the engine waits for its memory. */
    private static final long HOST_WAIT_NS = TimeUnit.SECONDS.toNanos(1);

    private static final long RETRY_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final MemoryTier tier;
    private final @Nullable JoinEngineFactory factory;
    private volatile @Nullable ForkableJoinEngine shared;
    private volatile @Nullable EngineUnavailableException failure;
    private double bytesPerBuildByte = 1;

    /** Build of the replicated tables in progress. */
    private @Nullable TableLoad load;

    private int attempts;
    private long startNs;

    /** What the process builds; null while unknown. */
    private @Nullable BuildShare expected;

    /**
     * @param factory of forkable engines; null if the tier does not exist
     */
    TierEngines(MemoryTier tier, @Nullable JoinEngineFactory factory) {
        this.tier = tier;
        this.factory = factory;
    }

    MemoryTier tier() {
        return tier;
    }

    /** Returns the engine with the replicated tables; null unless the tier is open. */
    @Nullable JoinEngine shared() {
        return shared;
    }

    /** Returns the memory of the replicated tables. */
    long sharedBytes() {
        return shared == null ? 0 : shared.stats().tableBytes();
    }

    boolean isOpen() {
        return shared != null;
    }

    /** Returns why the tier cannot be used; null if it can or does not exist. */
    @Nullable EngineUnavailableException failure() {
        return failure;
    }

    /**
     * Continues to build the replicated tables.
     *
     * <p>On the host it waits for memory, up to one second longer than the build takes.
     *
     * @return whether the tier is open or unusable
     * @throws EngineUnavailableException if the tables do not fit
     */
    boolean openStep(JoinSpec spec, BuildChunks log, long maxRows) {
        if (factory == null || failure != null || isOpen()) {
            return true;
        }
        if (attempts == 0) {
            startNs = System.nanoTime();
            attempts = 1;
        }
        try {
            if (load == null) {
                load = new TableLoad(factory.create(spec), log.replicated());
            }
            if (load.step(maxRows, 1)) {
                shared = (ForkableJoinEngine) load.detachEngine();
                load = null;
                tellExpected();
            }
        } catch (EngineUnavailableException e) {
            refused(e);
        }
        return isOpen();
    }

    /** Tells the engines of the tier what the subtasks of the process build. */
    void expect(BuildShare share) {
        expected = share;
        tellExpected();
    }

    private void tellExpected() {
        if (shared != null && expected != null) {
            shared.expect(expected);
        }
    }

    /** Schedules a retry, or fails after the last one. */
    private void refused(EngineUnavailableException e) {
        closeLoad();
        long waitNs = tier == MemoryTier.HOST ? HOST_WAIT_NS : 0;
        boolean waited = System.nanoTime() - startNs >= waitNs;
        if (e.scope() == Scope.DEVICE || attempts >= MIN_ATTEMPTS && waited) {
            throw e;
        }
        attempts++;
        if (!waited) {
            LockSupport.parkNanos(RETRY_NS);
        }
    }

    private void closeLoad() {
        if (load != null) {
            load.close();
            load = null;
        }
    }

    /** Forks an engine in state LOADING for a partition group. */
    JoinEngine newEngine(int dimension, TableLocation location) {
        return location.isPlaced()
                ? shared.forkLoading(dimension, location.member())
                : shared.forkLoading(dimension);
    }

    /** Returns the memory of the tables of a partition group. */
    TableSize sizeOf(JoinEngine engine, int dimension, TableLocation location) {
        long totalBytes = engine.stats().tableBytes();
        int members = location.isPlaced() ? 1 : memory().memberCount();
        boolean isSharded = ((ForkableJoinEngine) engine).isSharded(dimension);
        return new TableSize(totalBytes, totalBytes / members, isSharded);
    }

    /** Returns the memory that tables may still use; none if the tier is not open. */
    TableMemory memory() {
        return shared == null ? TableMemory.ofOne(0) : shared.tableMemory();
    }

    /** Returns whether tables in a location are spread over several members. */
    boolean isSpread(TableLocation location) {
        return memory().canPlace() && location.equals(TableLocation.DEVICE);
    }

    /** Returns the bytes that are left on each member that a location uses. */
    long availableBytes(TableLocation location) {
        List<Long> bytes = memory().availableBytes();
        return location.isPlaced() ? bytes.get(location.member()) : Collections.min(bytes);
    }

    /** Returns the budget for all tables on all members, used or not. */
    long capacityBytes() {
        return shared == null ? 0 : shared.capacityBytes();
    }

    /** Estimates the size of one copy of the tables of some build bytes from the last one built. */
    long tableBytes(long buildBytes) {
        return (long) (bytesPerBuildByte * buildBytes);
    }

    /** Estimates the size on each member of tables that all members probe. */
    long eachBytes(long wholeBytes) {
        TableMemory memory = memory();
        return memory.canShard() ? wholeBytes / memory.memberCount() : wholeBytes;
    }

    /** Estimates the memory needed to build the tables of some build bytes. */
    static long peakBytes(long buildBytes) {
        return (long) (PEAK * buildBytes);
    }

    void recordTableBytes(long tableBytes, long buildBytes) {
        if (buildBytes > 0) {
            bytesPerBuildByte = (double) tableBytes / buildBytes;
        }
    }

    /** Stops using the tier. The owners of its engines close them. */
    void lose(EngineUnavailableException e) {
        failure = e;
        close();
    }

    @Override
    public void close() {
        closeLoad();
        if (shared != null) {
            shared.close();
            shared = null;
        }
    }
}
