// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Presents result chunks of a bulk join as result batches of an engine, so that the same emitters
 * emit both. The chunk takes the place of the probe chunk, as its first columns are those of the
 * probe side. Columns of the build side are copied to native memory, where emitters expect them.
 * Not thread-safe.
 */
final class BulkBatches implements AutoCloseable {

    private static final int BUILD = 0;
    private static final int MIN_ROWS = 1024;

    /** A batch whose rows are those of its chunk. */
    private static final class Batch extends ResultBatch {
        Batch(ResultLayout layout, long address) {
            super(layout, address);
        }

        @Override
        public boolean isConsecutive() {
            return true;
        }
    }

    private final JoinSpec spec;

    /** Column in the result chunk of each payload column. */
    private final int[] payloadColumns;

    private final int probeVariableWidthColumns;

    /** Null before the first batch. */
    private @Nullable Region columns;

    private int capacityRows;

    /** Values of variable width; null before the first batch that has any. */
    private @Nullable Region variableWidth;

    /**
     * @param bulk returns all columns of the probe side, which is its left input, and at least the
     *     payload of the build side
     */
    BulkBatches(JoinSpec spec, BulkJoinSpec bulk) {
        this.spec = spec;
        int probeColumns = spec.factSchema().size();
        List<Integer> buildColumns = bulk.outputColumns(JoinSide.RIGHT);
        this.payloadColumns =
                spec.dimensions().get(BUILD).payloadColumns().stream()
                        .mapToInt(column -> probeColumns + buildColumns.indexOf(column))
                        .toArray();
        this.probeVariableWidthColumns = spec.factSchema().variableWidthColumnCount();
    }

    /**
     * Returns the rows of a result chunk, valid until the next call.
     *
     * @param chunk with columns of the probe side, and of the build side if rows are matched
     */
    ResultBatch of(Chunk chunk, boolean isMatched) {
        reserveRows(chunk.rowCount());
        // A new layout object invalidates what readers cached by address.
        ResultLayout layout = new ResultLayout(spec, capacityRows);
        Batch batch = new Batch(layout, columns.address());
        batch.set(chunk, chunk.rowCount(), chunk.rowCount());
        if (layout.matchedOffset(BUILD) >= 0) {
            Memory.fill(
                    null,
                    batch.matchedAddress(BUILD),
                    chunk.rowCount(),
                    (byte) (isMatched ? 1 : 0));
        }
        if (isMatched) {
            copyPayload(chunk, batch);
        }
        if (layout.variableWidthOffset(BUILD) >= 0) {
            if (isMatched) {
                copyVariableWidth(chunk, batch.variableWidthAddress(BUILD));
            } else {
                long lengthBytes = (long) Long.BYTES * chunk.rowCount();
                Memory.fill(null, batch.variableWidthAddress(BUILD), lengthBytes, (byte) 0);
            }
        }
        return batch;
    }

    private void reserveRows(int rowCount) {
        if (columns != null && rowCount <= capacityRows) {
            return;
        }
        close(columns);
        columns = null;
        capacityRows = Math.max(MIN_ROWS, rowCount);
        ResultLayout layout = new ResultLayout(spec, capacityRows);
        columns = Region.allocate(layout.lengthBytes());
        for (int row = 0; row < capacityRows; row++) {
            Memory.putInt(columns.address() + layout.probeRowOffset() + 4L * row, row);
        }
    }

    private void copyPayload(Chunk chunk, ResultBatch batch) {
        for (int payload = 0; payload < batch.layout().payloadCount(BUILD); payload++) {
            long lengthBytes =
                    (long) batch.layout().payloadWidth(BUILD, payload) * chunk.rowCount();
            long source = chunk.columnStart(payloadColumns[payload]);
            long target = batch.payloadAddress(BUILD, payload);
            Memory.copy(chunk.array(), source, null, target, lengthBytes);
        }
    }

    /** Copies the build side's values of each row, with their length in front. */
    private void copyVariableWidth(Chunk chunk, long references) {
        if (chunk.rowCount() == 0) {
            return;
        }
        byte[] array = chunk.array();
        long valueBytes =
                chunk.variableWidthEnd(chunk.rowCount() - 1) - chunk.variableWidthStart(0);
        reserveVariableWidth(valueBytes + (long) Integer.BYTES * chunk.rowCount());
        long at = variableWidth.address();
        for (int row = 0; row < chunk.rowCount(); row++) {
            long start = chunk.variableWidthStart(row);
            for (int column = 0; column < probeVariableWidthColumns; column++) {
                start += Integer.BYTES + Math.max(0, Memory.getInt(array, start));
            }
            int lengthBytes = (int) (chunk.variableWidthEnd(row) - start);
            Memory.putLong(references + (long) Long.BYTES * row, at);
            Memory.putInt(at, lengthBytes);
            Memory.copy(array, start, null, at + Integer.BYTES, lengthBytes);
            at += Integer.BYTES + lengthBytes;
        }
    }

    private void reserveVariableWidth(long lengthBytes) {
        if (variableWidth == null || variableWidth.lengthBytes() < lengthBytes) {
            close(variableWidth);
            variableWidth = null;
            variableWidth = Region.allocate(lengthBytes + lengthBytes / 2);
        }
    }

    @Override
    public void close() {
        close(columns);
        close(variableWidth);
    }

    private static void close(@Nullable Region region) {
        if (region != null) {
            region.close();
        }
    }
}
