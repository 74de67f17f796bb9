// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Probes all tables with one chunk at a time.
 *
 * <p>The last level pulls batches of matches from the previous one, down to the scan of the chunk.
 * Each level keeps its position between two calls. All memory is allocated at the start. Not
 * thread-safe.
 */
final class ProbePipeline {

    /**
     * Small enough for the columns of a level to stay in a 32 KiB cache, large enough to overlap
     * its cache misses.
     */
    static final int BATCH_ROWS = 512;

    /** A level stops if fewer rows fit, since a call costs as much for a few rows. */
    private static final int MIN_ROOM_ROWS = BATCH_ROWS / 8;

    private final List<CpuJoinTable> tables;
    private final PagedMemory memory;
    private final JoinSpec spec;
    private ResultBatch batch;
    private final ProbeLevel[] levels;
    private final MatchBatch[] outputs;
    private final MatchBatch scan;
    private final FactSelection selection;

    /** Dimensions whose matches are rows, so that they are the result column. */
    private final boolean[] rowsFound;

    /** The match of facts without a row, for dimensions of left joins; else 0. */
    private final long[] zeroRows;

    private final long batchAddress;
    private Chunk chunk;
    private int scanRow;

    /**
     * @param memory outlives this object
     */
    ProbePipeline(JoinSpec spec, List<CpuJoinTable> tables, PagedMemory memory) {
        this.spec = spec;
        this.tables = tables;
        this.memory = memory;
        ResultLayout layout = new ResultLayout(spec, BATCH_ROWS);
        this.batchAddress = memory.allocate(layout.lengthBytes());
        this.batch = new ResultBatch(layout, batchAddress);
        int dimensions = tables.size();
        this.levels = new ProbeLevel[dimensions];
        this.outputs = new MatchBatch[dimensions];
        this.selection = new FactSelection(spec, BATCH_ROWS, memory);
        this.scan =
                selection.filters()
                        ? new MatchBatch(BATCH_ROWS, memory.allocate(4L * BATCH_ROWS), new long[0])
                        : new MatchBatch(BATCH_ROWS);
        this.rowsFound = new boolean[dimensions];
        this.zeroRows = new long[dimensions];
        NullKeys nullKeys = spec.hasNullKeys() ? new NullKeys(spec, BATCH_ROWS, memory) : null;
        MatchBatch input = scan;
        for (int d = 0; d < dimensions; d++) {
            DimensionSpec side = spec.dimensions().get(d);
            boolean last = d == dimensions - 1;
            CpuJoinTable table = tables.get(d);
            zeroRows[d] = side.kind().hasNullPayload() ? zeroRow(table.layout()) : 0;
            // A row that a later level may drop is not worth a cache miss yet.
            rowsFound[d] = last && table.hasRowLookup() && !side.kind().hasNullPayload();
            outputs[d] =
                    new MatchBatch(
                            BATCH_ROWS,
                            last ? batch.probeRowAddress() : memory.allocate(4L * BATCH_ROWS),
                            matchArrays(d));
            levels[d] =
                    new ProbeLevel(
                            d,
                            new FactColumn(spec, side.factKeyColumn()),
                            nullKeys,
                            table,
                            lookup(d, side.kind(), nullKeys),
                            zeroRows[d],
                            input,
                            outputs[d],
                            memory);
            input = outputs[d];
        }
    }

    private long zeroRow(RowLayout layout) {
        long bytes = Math.max(1, layout.rowBytes());
        long row = memory.allocate(bytes);
        Memory.fill(null, row, bytes, (byte) 0);
        return row;
    }

    /** Creates the lookup of a join kind. */
    private KeyLookup lookup(int d, JoinKind kind, @Nullable NullKeys nullKeys) {
        CpuJoinTable table = tables.get(d);
        KeyLookup found =
                rowsFound[d] ? table.rowLookup() : table.addressLookup(BATCH_ROWS, memory);
        if (nullKeys != null) {
            found = new NonNullLookup(found, nullKeys, d);
        }
        return switch (kind) {
            case INNER, SEMI -> found;
            case LEFT -> new LeftLookup(found, zeroRows[d], BATCH_ROWS, memory);
            case ANTI -> new AntiLookup(found, BATCH_ROWS, memory);
        };
    }

    private long[] matchArrays(int lastDimension) {
        long[] matches = new long[lastDimension + 1];
        for (int d = 0; d <= lastDimension; d++) {
            RowLayout layout = tables.get(d).layout();
            if (rowsFound[d]) {
                matches[d] =
                        layout.variableWidthOffset() == 0
                                ? batch.variableWidthAddress(d)
                                : batch.payloadAddress(d, 0);
            } else if (layout.hasPayload() || zeroRows[d] != 0) {
                matches[d] = memory.allocate(8L * BATCH_ROWS);
            }
        }
        return matches;
    }

    /**
     * Tells readers that variable-width bytes have moved: later batches have a new layout object,
     * so that readers drop cached addresses.
     */
    void forgetAddresses() {
        batch = new ResultBatch(new ResultLayout(spec, BATCH_ROWS), batchAddress);
    }

    /** Starts a chunk and drops what is left of another. */
    void open(Chunk chunk, int firstRow) {
        this.chunk = chunk;
        this.scanRow = firstRow;
        for (ProbeLevel level : levels) {
            level.open(chunk);
        }
    }

    /** Returns the next results of the chunk; {@link ResultBatch#isLast()} marks the last batch. */
    ResultBatch next() {
        int last = levels.length - 1;
        int rows = fill(last);
        for (int d = 0; d <= last; d++) {
            if (outputs[last].matches(d) != 0 && !rowsFound[d]) {
                writePayload(d, outputs[last].matches(d), rows);
            }
        }
        batch.set(chunk, rows, completedRows());
        return batch;
    }

    /** Fills the output of a level, and returns its rows; 0 at the end of the chunk. */
    private int fill(int d) {
        ProbeLevel level = levels[d];
        MatchBatch output = outputs[d];
        output.setRowCount(0);
        while (output.roomRows() >= MIN_ROOM_ROWS) {
            if (!level.hasInput()) {
                if ((d == 0 ? scan() : fill(d - 1)) == 0) {
                    break;
                }
                level.rewind();
            }
            level.advance();
        }
        return output.rowCount();
    }

    /** Fills the batch of facts to probe, and returns its rows; 0 at the end of the chunk. */
    private int scan() {
        if (selection.filters()) {
            return scanFiltered();
        }
        int count = Math.min(BATCH_ROWS, chunk.rowCount() - scanRow);
        scan.setConsecutive(scanRow, count);
        scanRow += count;
        return count;
    }

    private int scanFiltered() {
        scan.setRowCount(0);
        while (scan.roomRows() >= MIN_ROOM_ROWS && scanRow < chunk.rowCount()) {
            int count = Math.min(scan.roomRows(), chunk.rowCount() - scanRow);
            int at = scan.rowCount();
            scan.setRowCount(
                    at + selection.select(chunk, scanRow, count, scan.probeRows() + 4L * at));
            scanRow += count;
        }
        return scan.rowCount();
    }

    /**
     * Returns the number of complete probe rows. Rows flow in order, so the deepest level with
     * input has the oldest row.
     */
    private int completedRows() {
        for (int d = levels.length - 1; d >= 0; d--) {
            if (levels[d].hasInput()) {
                return levels[d].oldestProbeRow();
            }
        }
        return scanRow;
    }

    private void writePayload(int dimension, long matches, int rows) {
        RowLayout layout = tables.get(dimension).layout();
        for (int i = 0; i < layout.payloadCount(); i++) {
            long target = batch.payloadAddress(dimension, i);
            int offset = layout.payloadOffset(i);
            switch (layout.payloadWidth(i)) {
                case Long.BYTES -> gatherLongs(matches, offset, target, rows);
                case Integer.BYTES -> gatherInts(matches, offset, target, rows);
                case Short.BYTES -> gatherShorts(matches, offset, target, rows);
                default -> gatherBytes(matches, offset, target, rows);
            }
        }
        if (layout.variableWidthOffset() >= 0) {
            gatherLongs(
                    matches,
                    layout.variableWidthOffset(),
                    batch.variableWidthAddress(dimension),
                    rows);
        }
        if (zeroRows[dimension] != 0) {
            writeMatched(matches, zeroRows[dimension], batch.matchedAddress(dimension), rows);
        }
    }

    private static void writeMatched(long matches, long zeroRow, long target, int rows) {
        for (int i = 0; i < rows; i++) {
            long row = Memory.getLong(matches + 8L * i);
            Memory.putByte(null, target + i, (byte) (row == zeroRow ? 0 : 1));
        }
    }

    private static void gatherLongs(long matches, int offset, long target, int rows) {
        for (int i = 0; i < rows; i++) {
            long row = Memory.getLong(matches + 8L * i);
            Memory.putLong(target + 8L * i, Memory.getLong(row + offset));
        }
    }

    private static void gatherInts(long matches, int offset, long target, int rows) {
        for (int i = 0; i < rows; i++) {
            long row = Memory.getLong(matches + 8L * i);
            Memory.putInt(target + 4L * i, Memory.getInt(row + offset));
        }
    }

    private static void gatherShorts(long matches, int offset, long target, int rows) {
        for (int i = 0; i < rows; i++) {
            long row = Memory.getLong(matches + 8L * i);
            Memory.putShort(target + 2L * i, Memory.getShort(row + offset));
        }
    }

    private static void gatherBytes(long matches, int offset, long target, int rows) {
        for (int i = 0; i < rows; i++) {
            long row = Memory.getLong(matches + 8L * i);
            Memory.putByte(target + i, Memory.getByte(row + offset));
        }
    }
}
