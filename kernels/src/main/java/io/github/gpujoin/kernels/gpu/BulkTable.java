// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntUnaryOperator;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Writes the rows of one input of a bulk join to runs: those that are joined, and, if the join
 * returns rows without a match, those with a null in their key. Their variable-width columns stay
 * in host memory. Threads write the rows of inputs whose keys have no nulls. Not thread-safe.
 */
final class BulkTable implements AutoCloseable {

    /** Fewer rows are written faster than another thread is woken. */
    private static final int MIN_TASK_ROWS = 1 << 10;

    private final BulkThreads threads;
    private final RunStaging joined;
    private final RunStaging unjoined;
    private final @Nullable KeyArena keys;
    private final boolean keepsNulls;

    private final KeyRecordSizes keySizes;

    /** Whether keys may have nulls, so that rows have to be selected. */
    private final boolean hasNullableKey;

    private final RunWriter writer;

    /** All writers, which threads add. */
    private final Queue<RunWriter> allWriters = new ConcurrentLinkedQueue<>();

    private final ThreadLocal<RunWriter> writers;

    /** Rows of the slice that are appended next, if it has nulls. */
    private final int[] selection = new int[RunWriter.SLICE_ROWS];

    private final WordOrder.Input order = new WordOrder.Input();
    private WordOrder appended = new WordOrder(order, Long.MIN_VALUE);

    /**
     * @param device whose threads and host memory apply
     * @param staging pinned runs for at least {@link #openRuns} of this input
     * @param memory owner of pinned memory for long keys
     * @param keyStaging pinned buffers of key bytes, one of which this input may have open
     * @param inputs receives the runs
     */
    BulkTable(
            BulkJoinSpec spec,
            JoinSide side,
            BulkDevice device,
            StagedRuns staging,
            BulkMemory memory,
            @Nullable StagedRuns keyStaging,
            BulkInputs inputs) {
        BulkRunLayout layout = inputs.layout(side);
        this.threads = device.threads();
        this.joined = RunStaging.of(staging, inputs.joined(side), layout.lengthBytes());
        this.unjoined = RunStaging.ofSingleRuns(staging, inputs.unjoined(side));
        this.keepsNulls = spec.kind().keepsUnmatched(side);
        this.keys =
                keyStaging == null
                        ? null
                        : new KeyArena(device, memory, keyStaging, inputs::allocateKeys);
        this.keySizes = new KeyRecordSizes(spec.input(side));
        this.hasNullableKey = hasNullableKey(spec.input(side));
        Supplier<RunWriter> newWriter =
                () -> {
                    RunWriter created = new RunWriter(spec, side, layout, device.hostMemory());
                    allWriters.add(created);
                    return created;
                };
        this.writer = newWriter.get();
        this.writers = ThreadLocal.withInitial(newWriter);
    }

    /** Returns the maximum of runs of an input that are filled at the same time. */
    static int openRuns(BulkJoinSpec spec, JoinSide side) {
        return spec.kind().keepsUnmatched(side) && hasNullableKey(spec.input(side)) ? 2 : 1;
    }

    private static boolean hasNullableKey(BulkInput input) {
        return input.keyColumns().stream().anyMatch(key -> input.schema().column(key).nullable());
    }

    /**
     * Returns whether the words of the joined rows are exact and in order, see {@link WordOrder}.
     */
    boolean isAscending() {
        return keys == null && order.isAscending();
    }

    /** Returns the bytes of variable-width values in host memory. */
    long hostBytes() {
        return allWriters.stream().mapToLong(RunWriter::hostBytes).sum();
    }

    /**
     * Appends the rows of a chunk. Threads may read it until {@link StagedRuns#passAll} returns.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the memory does not
     *     suffice, or the device failed
     */
    void append(Chunk chunk) throws InterruptedException {
        if (!hasNullableKey && threads.count() > 0) {
            appendByThreads(chunk);
            return;
        }
        int row = 0;
        while (row < chunk.rowCount()) {
            int count = Math.min(RunWriter.SLICE_ROWS, chunk.rowCount() - row);
            writer.encoder().encode(chunk, row, count);
            appended.check(writer, count);
            if (writer.encoder().hasNulls()) {
                appendSelected(joined, chunk, row, select(count, false));
                if (keepsNulls) {
                    appendSelected(unjoined, chunk, row, select(count, true));
                }
            } else {
                appendAll(chunk, row, count);
            }
            row += count;
        }
    }

    /** Has one thread write the chunk, since a task costs more than a claim. */
    private void appendByThreads(Chunk submitted) throws InterruptedException {
        Chunk chunk = submitted.isTransient() ? submitted.onHeap() : submitted;
        List<RowClaim> claims = new ArrayList<>();
        int first = 0;
        int end = 0;
        while (end < chunk.rowCount()) {
            if (!claims.isEmpty() && mayWait(chunk, end)) {
                write(chunk, first, end, claims);
                claims = new ArrayList<>();
                first = end;
            }
            int row = end;
            RowClaim claim = claim(chunk.rowCount() - end, i -> keySizes.units(chunk, row + i));
            claims.add(claim);
            end += claim.rowCount();
        }
        write(chunk, first, end, claims);
    }

    private boolean mayWait(Chunk chunk, int row) {
        return joined.mayWait() || (keys != null && keys.mayWait(keySizes.units(chunk, row)));
    }

    private void write(Chunk chunk, int first, int end, List<RowClaim> claims) {
        if (end - first < MIN_TASK_ROWS) {
            write(writer, chunk, first, claims, appended);
            claims.forEach(RowClaim::written);
            return;
        }
        WordOrder before = appended;
        if (order.isAscending()) {
            writer.encoder().encode(chunk, end - 1, 1);
            appended = new WordOrder(order, writer.word(0));
        }
        threads.read(
                chunk,
                () -> write(writers.get(), chunk, first, claims, before),
                () -> claims.forEach(RowClaim::written));
    }

    /** Called by any thread. */
    private static void write(
            RunWriter writer, Chunk chunk, int first, List<RowClaim> claims, WordOrder before) {
        int row = first;
        for (RowClaim claim : claims) {
            writer.write(chunk, row, claim, before);
            row += claim.rowCount();
        }
    }

    private int select(int count, boolean isNull) {
        int selected = 0;
        for (int i = 0; i < count; i++) {
            if (writer.encoder().isNull(i) == isNull) {
                selection[selected++] = i;
            }
        }
        return selected;
    }

    private void appendAll(Chunk chunk, int firstRow, int count) throws InterruptedException {
        int done = 0;
        while (done < count) {
            int first = done;
            RowClaim claim = claim(count - done, row -> encodedUnits(first + row));
            writer.writeEncoded(chunk, firstRow + done, done, claim, 0, claim.rowCount(), 0);
            claim.written();
            done += claim.rowCount();
        }
    }

    private int encodedUnits(int row) {
        return KeyArena.units(writer.encoder().keyEnd(row) - writer.encoder().keyStart(row));
    }

    /**
     * Claims room for at least one and at most {@code rows} joined rows.
     *
     * @param units of the key record of each row, if it has one
     */
    private RowClaim claim(int rows, IntUnaryOperator units) throws InterruptedException {
        if (keys == null) {
            return new RowClaim(joined.claim(rows), null);
        }
        int runRows = joined.room() == 0 ? BulkRunLayout.RUN_ROWS : joined.room();
        int most = Math.min(rows, runRows);
        int sum = units.applyAsInt(0);
        int room = keys.room(sum);
        int count = 1;
        while (count < most) {
            int more = units.applyAsInt(count);
            if (more > room - sum) {
                break;
            }
            sum += more;
            count++;
        }
        return new RowClaim(joined.claim(count), keys.claim(sum));
    }

    /** Appends the first {@code count} rows of the {@link #selection}. */
    private void appendSelected(RunStaging target, Chunk chunk, int firstRow, int count)
            throws InterruptedException {
        for (int i = 0; i < count; i++) {
            RunStaging.Claim claim = target.claim(1);
            int row = selection[i];
            boolean hasRecord = keys != null && !writer.encoder().isNull(row);
            RowClaim both = new RowClaim(claim, hasRecord ? keys.claim(encodedUnits(row)) : null);
            writer.writeRow(chunk, firstRow + row, row, both);
            both.written();
        }
    }

    /** Passes on the last rows, when they are written. */
    void finish() throws InterruptedException {
        joined.finish();
        unjoined.finish();
        if (keys != null) {
            keys.finish();
        }
    }

    /** Frees the variable-width values, when all threads have ended. */
    @Override
    public void close() {
        allWriters.forEach(RunWriter::close);
    }
}
