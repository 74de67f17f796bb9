// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.BitSet;

/**
 * A copy of a result row with its variable-width bytes, which outlives its batch and the tables.
 * The copy may lack matches that the row has in some dimensions.
 */
final class RowCopy implements AutoCloseable {

    private final Region region;
    private final ResultBatch batch;

    /**
     * @param unmatched left-joined dimensions without a match
     */
    RowCopy(JoinSpec spec, ResultBatch from, int row, BitSet unmatched) {
        // A new layout object invalidates what readers cached by address.
        ResultLayout layout = new ResultLayout(spec, 1);
        int dimensions = spec.dimensions().size();
        byte[][] variableWidth = new byte[dimensions][];
        long variableWidthBytes = 0;
        for (int d = 0; d < dimensions; d++) {
            if (layout.variableWidthOffset(d) >= 0 && !unmatched.get(d)) {
                variableWidth[d] = from.variableWidth(d, row);
                variableWidthBytes +=
                        variableWidth[d] == null ? 0 : Integer.BYTES + variableWidth[d].length;
            }
        }
        this.region = Region.allocateZeroed(layout.lengthBytes() + variableWidthBytes);
        this.batch = new ResultBatch(layout, region.address());
        batch.set(from.chunk(), 1, from.completedRows());
        Memory.putInt(batch.probeRowAddress(), from.probeRow(row));
        long next = region.address() + layout.lengthBytes();
        for (int d = 0; d < dimensions; d++) {
            if (!unmatched.get(d) && from.isMatched(d, row)) {
                copyPayload(from, row, d);
            }
            if (variableWidth[d] != null) {
                next = copyVariableWidth(variableWidth[d], d, next);
            }
        }
    }

    private void copyPayload(ResultBatch from, int row, int dimension) {
        ResultLayout layout = batch.layout();
        for (int p = 0; p < layout.payloadCount(dimension); p++) {
            int width = layout.payloadWidth(dimension, p);
            long source = from.payloadAddress(dimension, p) + (long) width * row;
            Memory.copy(null, source, null, batch.payloadAddress(dimension, p), width);
        }
        if (layout.matchedOffset(dimension) >= 0) {
            Memory.putByte(null, batch.matchedAddress(dimension), (byte) 1);
        }
    }

    private long copyVariableWidth(byte[] bytes, int dimension, long at) {
        Memory.putInt(at, bytes.length);
        Memory.copy(bytes, Memory.BYTES, null, at + Integer.BYTES, bytes.length);
        Memory.putLong(batch.variableWidthAddress(dimension), at);
        return at + Integer.BYTES + bytes.length;
    }

    /** Returns a batch of this row, valid until this copy is closed. */
    ResultBatch batch() {
        return batch;
    }

    @Override
    public void close() {
        region.close();
    }
}
