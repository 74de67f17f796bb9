// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import io.github.gpujoin.core.engine.EngineChecks;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/** The part that all symmetric joins share: state changes, checks, and the queue of chunks. */
public abstract class AbstractSymmetricJoin implements SymmetricJoin {

    /** Enough to keep a device busy; each chunk is memory that only the queue refers to. */
    private static final int MAX_IN_FLIGHT = 8;

    private enum State {
        LOADING,
        JOINING,
        /** An exception left the tables incomplete. */
        FAILED,
        CLOSED
    }

    private record Submission(int input, Chunk chunk, int firstRow, long timeMs) {}

    private final List<SymmetricInput> inputs;
    private final Deque<Submission> queue = new ArrayDeque<>();
    private State state = State.LOADING;

    /** Whether {@link #begin} was called for the first chunk of the queue. */
    private boolean hasBegun;

    protected AbstractSymmetricJoin(List<SymmetricInput> inputs) {
        this.inputs = List.copyOf(inputs);
    }

    // ------------------------------------------------------------------ for subclasses

    /**
     * Applies the rows of a chunk, which is on the heap and checked, to the table of their input.
     */
    protected abstract void apply(int input, Chunk chunk, long timeMs);

    /** Removes expired rows, and counts the matches of all others. */
    protected abstract void countMatches(long timeMs);

    /**
     * Starts to join a chunk, which is on the heap and checked. The previous one has ended.
     *
     * @param firstRow row from which on {@link #next} returns results
     */
    protected abstract void begin(int input, Chunk chunk, int firstRow, long timeMs);

    /** Returns the next results of the chunk that was begun. */
    protected abstract SymmetricBatch next();

    protected abstract void removeExpired(long timeMs);

    /** Copies rows as {@link #copyRows} does. */
    protected abstract void copyTo(int input, int partition, Consumer<AddedRows> chunks);

    /** Frees all memory. Called once. */
    protected abstract void release();

    // ------------------------------------------------------------------ life cycle

    @Override
    public final List<SymmetricInput> inputs() {
        return inputs;
    }

    private void require(State expected) {
        if (state != expected) {
            throw new IllegalStateException(
                    "Symmetric join is in another state: state=%s, expected=%s"
                            .formatted(state, expected));
        }
    }

    private void requireIdle() {
        require(State.JOINING);
        if (!queue.isEmpty()) {
            throw new IllegalStateException(
                    "Chunks are in flight. Poll first: inFlight=" + queue.size());
        }
    }

    private void orFail(Runnable step) {
        try {
            step.run();
        } catch (Throwable e) {
            state = State.FAILED;
            throw e;
        }
    }

    @Override
    public final void load(int input, Chunk chunk, long timeMs) {
        require(State.LOADING);
        Chunk kept = checked(input, chunk);
        orFail(() -> apply(input, kept, timeMs));
    }

    @Override
    public final void finishLoad(long timeMs) {
        require(State.LOADING);
        orFail(() -> countMatches(timeMs));
        state = State.JOINING;
    }

    @Override
    public final boolean submit(int input, Chunk chunk, int firstRow, long timeMs) {
        require(State.JOINING);
        if (firstRow < 0 || firstRow > chunk.rowCount()) {
            throw new IllegalArgumentException(
                    "First row is outside the chunk: input=%s, firstRow=%d, rowCount=%d"
                            .formatted(inputs.get(input).name(), firstRow, chunk.rowCount()));
        }
        if (queue.size() == MAX_IN_FLIGHT) {
            return false;
        }
        queue.add(new Submission(input, checked(input, chunk), firstRow, timeMs));
        return true;
    }

    @Override
    public final @Nullable SymmetricBatch poll() {
        require(State.JOINING);
        Submission first = queue.peek();
        if (first == null) {
            return null;
        }
        try {
            if (!hasBegun) {
                begin(first.input, first.chunk, first.firstRow, first.timeMs);
                hasBegun = true;
            }
            SymmetricBatch batch = next();
            if (batch.isLast()) {
                queue.remove();
                hasBegun = false;
            }
            return batch;
        } catch (Throwable e) {
            state = State.FAILED;
            throw e;
        }
    }

    @Override
    public final int inFlightCount() {
        return queue.size();
    }

    @Override
    public final void expire(long timeMs) {
        requireIdle();
        orFail(() -> removeExpired(timeMs));
    }

    @Override
    public final void copyRows(int input, int partition, Consumer<AddedRows> chunks) {
        requireIdle();
        Objects.requireNonNull(chunks, "chunks");
        copyTo(input, partition, chunks);
    }

    @Override
    public final void close() {
        if (state != State.CLOSED) {
            state = State.CLOSED;
            queue.clear();
            release();
        }
    }

    // ------------------------------------------------------------------ checks

    /** Returns the chunk as it is kept. */
    private Chunk checked(int number, Chunk chunk) {
        SymmetricInput input = inputs.get(number);
        EngineChecks.requireSchema(input.name(), input.schema(), chunk);
        Chunk kept = chunk.onHeap();
        if (input.isChangelog()) {
            for (int row = 0; row < kept.rowCount(); row++) {
                requireKnown(input, kept, row);
            }
        }
        return kept;
    }

    private static void requireKnown(SymmetricInput input, Chunk chunk, int row) {
        try {
            ChangeKind.of(chunk.getInt(input.changeColumn(), row));
        } catch (IllegalArgumentException e) {
            throw new IllegalArgumentException(
                    "Row has an unknown change: input=%s, row=%d".formatted(input.name(), row), e);
        }
    }
}
