// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryRefusedException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The part that all bulk joins share: state changes, checks of arguments, and statistics.
 *
 * <p>Only one thread at a time may call a join, except for {@link #state()} and {@link #stats()}.
 */
public abstract class AbstractBulkJoin implements BulkJoin {

    private final BulkJoinSpec spec;
    private volatile BulkJoinState state = BulkJoinState.LOADING;
    private volatile long leftRows;
    private volatile long rightRows;
    private volatile long inputBytes;
    private volatile long resultRows;

    /** Null until the inputs have ended. */
    private volatile @Nullable BulkJoinPlan plan;

    protected AbstractBulkJoin(BulkJoinSpec spec) {
        this.spec = spec;
    }

    // ------------------------------------------------------------------ for subclasses

    /** A step of a join. */
    @FunctionalInterface
    private interface Step<T> {
        T run() throws InterruptedException;
    }

    /**
     * Adds the rows of a chunk to an input. If this method throws, the join is FAILED.
     *
     * @param chunk with the schema of the input, verified. It may be in a slot or transient, and
     *     belongs to the caller after this call.
     */
    protected abstract void append(JoinSide side, Chunk chunk) throws InterruptedException;

    /**
     * Reserves memory and starts to join. If this method throws, the join is FAILED.
     *
     * @return how it joins, and why
     * @throws MemoryRefusedException if the inputs do not fit the memory
     */
    protected abstract BulkJoinPlan start() throws InterruptedException;

    /**
     * Returns the next result. If this method throws another exception than InterruptedException,
     * the join is FAILED.
     *
     * @return null if none is ready in time, or no result is left
     */
    protected abstract @Nullable BulkResult next(long timeoutNs) throws InterruptedException;

    /** Whether {@link #next} has returned all results. */
    protected abstract boolean isExhausted();

    /** Returns the memory that the join holds, in bytes. Any thread may call. */
    protected abstract long memoryBytes();

    /** Returns the bytes that the join has written to files. Any thread may call. */
    protected long spilledBytes() {
        return 0;
    }

    /** Stops the join and frees all memory. Called once. */
    protected abstract void release();

    // ------------------------------------------------------------------ life cycle

    @Override
    public final BulkJoinSpec spec() {
        return spec;
    }

    @Override
    public final BulkJoinState state() {
        return state;
    }

    private <T> T orFail(Step<T> step) throws InterruptedException {
        try {
            return step.run();
        } catch (MemoryRefusedException e) {
            state = state.to(BulkJoinState.FAILED);
            throw EngineUnavailableException.noMemory(e);
        } catch (Throwable e) {
            state = state.to(BulkJoinState.FAILED);
            throw e;
        }
    }

    @Override
    public final void submit(JoinSide side, Chunk chunk) throws InterruptedException {
        state.require(BulkJoinState.LOADING);
        BulkInput input = spec.input(side);
        EngineChecks.requireSchema(input.name(), input.schema(), chunk);
        chunk.verify();
        orFail(
                () -> {
                    append(side, chunk);
                    return null;
                });
        if (side == JoinSide.LEFT) {
            leftRows += chunk.rowCount();
        } else {
            rightRows += chunk.rowCount();
        }
        inputBytes += EngineChecks.payloadBytes(chunk);
    }

    @Override
    public final void finish() throws InterruptedException {
        state.require(BulkJoinState.LOADING);
        plan = orFail(this::start);
        state = state.to(BulkJoinState.JOINING);
    }

    @Override
    public final @Nullable BulkResult poll(long timeoutNs) throws InterruptedException {
        state.require(BulkJoinState.JOINING);
        BulkResult result;
        try {
            result = next(timeoutNs);
        } catch (RuntimeException | Error e) {
            state = state.to(BulkJoinState.FAILED);
            throw e;
        }
        if (result != null) {
            resultRows += rowsOf(result);
        } else if (isExhausted()) {
            state = state.to(BulkJoinState.DONE);
        }
        return result;
    }

    private static long rowsOf(BulkResult result) {
        if (result instanceof BulkResult.Rows rows) {
            return rows.chunk().rowCount();
        }
        return result instanceof BulkResult.Count count
                ? count.rows()
                : ((BulkResult.Groups) result).groups().rowCount();
    }

    @Override
    public final BulkJoinPlan plan() {
        if (state != BulkJoinState.DONE) {
            state.require(BulkJoinState.JOINING);
        }
        return Objects.requireNonNull(plan);
    }

    @Override
    public final BulkJoinStats stats() {
        return new BulkJoinStats(
                leftRows, rightRows, inputBytes, memoryBytes(), spilledBytes(), resultRows);
    }

    @Override
    public final void close() {
        if (state != BulkJoinState.CLOSED) {
            state = state.to(BulkJoinState.CLOSED);
            release();
        }
    }
}
