// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.VariableWidthRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Writes the rows of one input of a bulk join to runs: those that are joined, and, if the join
 * returns rows without a match, those with a null in their key. Their variable-width columns stay
 * in host memory. Threads copy rows that have only fixed-width columns, and no nulls. Not
 * thread-safe.
 */
final class BulkTable implements AutoCloseable {

    /** Fewer rows are written faster than another thread is woken. */
    private static final int MIN_TASK_ROWS = 1 << 10;

    private final BulkRunLayout layout;
    private final BulkThreads threads;
    private final VariableWidthRow values;
    private final RunStaging joined;
    private final RunStaging unjoined;
    private final PagedMemory variableWidth;
    private final @Nullable KeyArena keys;
    private final boolean keepsNulls;

    /** Whether all rows are joined, and have only fixed-width columns. */
    private final boolean isPlain;

    private final RunWriter writer;
    private final ThreadLocal<RunWriter> writers;

    /** Rows of the slice that are appended next, if it has nulls. */
    private final int[] selection = new int[RunWriter.SLICE_ROWS];

    private final WordOrder.Input order = new WordOrder.Input();
    private WordOrder appended = new WordOrder(order, Long.MIN_VALUE);

    /**
     * @param device whose threads and host memory apply
     * @param staging pinned runs for at least {@link #openRuns} of this input
     * @param keyStaging owner of the pinned buffers of key bytes
     * @param inputs receives the runs
     */
    BulkTable(
            BulkJoinSpec spec,
            JoinSide side,
            BulkDevice device,
            StagedRuns staging,
            BulkMemory keyStaging,
            BulkInputs inputs) {
        this.layout = inputs.layout(side);
        this.threads = device.threads();
        this.values = new VariableWidthRow(spec.input(side).schema());
        this.joined = new RunStaging(staging, inputs.joined(side));
        this.unjoined = new RunStaging(staging, inputs.unjoined(side));
        this.variableWidth = new PagedMemory(device.hostMemory());
        this.keepsNulls = spec.kind().keepsUnmatched(side);
        this.keys =
                layout.hasKeyRecords()
                        ? new KeyArena(device, keyStaging, inputs::allocateKeys)
                        : null;
        this.isPlain = !hasNullableKey(spec.input(side)) && !layout.hasReferences() && keys == null;
        this.writer = new RunWriter(spec, side, layout);
        this.writers = ThreadLocal.withInitial(() -> new RunWriter(spec, side, layout));
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
        return variableWidth.lengthBytes();
    }

    /**
     * Appends the rows of a chunk. Threads may read it until {@link StagedRuns#passAll} returns.
     *
     * @throws io.github.gpujoin.core.engine.EngineUnavailableException if the memory does not
     *     suffice, or the device failed
     */
    void append(Chunk chunk) throws InterruptedException {
        if (isPlain && threads.count() > 0) {
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
        List<RunStaging.Claim> claims = new ArrayList<>();
        int first = 0;
        int end = 0;
        while (end < chunk.rowCount()) {
            if (!claims.isEmpty() && joined.mayWait()) {
                write(chunk, first, end, claims);
                claims = new ArrayList<>();
                first = end;
            }
            RunStaging.Claim claim = joined.claim(chunk.rowCount() - end);
            claims.add(claim);
            end += claim.rows();
        }
        write(chunk, first, end, claims);
    }

    private void write(Chunk chunk, int first, int end, List<RunStaging.Claim> claims) {
        if (end - first < MIN_TASK_ROWS) {
            write(writer, chunk, first, claims, appended);
            written(claims);
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
                () -> written(claims));
    }

    /** Called by any thread. */
    private static void write(
            RunWriter writer,
            Chunk chunk,
            int first,
            List<RunStaging.Claim> claims,
            WordOrder before) {
        int row = first;
        for (RunStaging.Claim claim : claims) {
            writer.write(chunk, row, claim, before);
            row += claim.rows();
        }
    }

    private static void written(List<RunStaging.Claim> claims) {
        claims.forEach(RunStaging.Claim::written);
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
            RunStaging.Claim claim = joined.claim(count - done);
            int row = firstRow + done;
            writer.writeEncoded(chunk, row, done, claim.run(), claim.first(), claim.rows());
            if (keys != null) {
                putKeys(claim.run().address(), claim.first(), done, claim.rows());
            }
            if (layout.hasReferences()) {
                for (int i = 0; i < claim.rows(); i++) {
                    putReference(chunk, row + i, claim.run().address(), claim.first() + i);
                }
            }
            claim.written();
            done += claim.rows();
        }
    }

    /** Stores the keys of rows, all of which are joined, and the addresses of the records. */
    private void putKeys(long run, int at, int first, int rows) throws InterruptedException {
        byte[] bytes = writer.encoder().keyBytes();
        long target = run + layout.keyRecordOffset() + (long) Long.BYTES * at;
        for (int i = 0; i < rows; i++) {
            int start = writer.encoder().keyStart(first + i);
            long record = keys.append(bytes, start, writer.encoder().keyEnd(first + i));
            Memory.putLong(target + (long) Long.BYTES * i, record);
        }
    }

    /** Appends the first {@code count} rows of the {@link #selection}. */
    private void appendSelected(RunStaging target, Chunk chunk, int firstRow, int count)
            throws InterruptedException {
        int done = 0;
        while (done < count) {
            RunStaging.Claim claim = target.claim(count - done);
            for (int i = 0; i < claim.rows(); i++) {
                int row = selection[done + i];
                putRow(claim.run().address(), claim.first() + i, chunk, firstRow + row, row);
            }
            claim.written();
            done += claim.rows();
        }
    }

    private void putRow(long run, int at, Chunk chunk, int row, int wordIndex)
            throws InterruptedException {
        int wordBytes = layout.wordBytes();
        Memory.putInteger(null, run + (long) wordBytes * at, wordBytes, writer.word(wordIndex));
        for (int column : layout.storedColumns()) {
            int width = layout.widthBytes(column);
            long source = chunk.columnStart(column) + (long) width * row;
            long value = Memory.getInteger(chunk.array(), source, width);
            Memory.putInteger(null, run + layout.offset(column) + (long) width * at, width, value);
        }
        if (keys != null && !writer.encoder().isNull(wordIndex)) {
            putKeys(run, at, wordIndex, 1);
        }
        if (layout.hasReferences()) {
            putReference(chunk, row, run, at);
        }
    }

    private void putReference(Chunk chunk, int row, long run, int at) {
        values.at(chunk, row);
        int bytes = values.lengthBytes(layout.variableWidthColumns());
        long address = variableWidth.allocate(Integer.BYTES + (long) bytes);
        Memory.putInt(address, bytes);
        values.copy(chunk, layout.variableWidthColumns(), address + Integer.BYTES);
        Memory.putLong(run + layout.referenceOffset() + 8L * at, address);
    }

    /** Passes on the last rows, when they are written. */
    void finish() throws InterruptedException {
        joined.finish();
        unjoined.finish();
        if (keys != null) {
            keys.finish();
        }
    }

    /** Frees the variable-width values. */
    @Override
    public void close() {
        variableWidth.close();
    }
}
