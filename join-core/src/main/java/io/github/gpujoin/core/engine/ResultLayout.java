// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import io.github.gpujoin.core.region.Region;
import java.util.List;

/**
 * Byte layout of a result batch of up to {@code capacityRows} rows, in native memory.
 *
 * <pre>
 *  int32 probeRow[capacityRows]               row in the probe chunk
 *  for each dimension:
 *    for each fixed-width payload column:     values[capacityRows]
 *    if it has variable-width columns:        int64 variableWidthRef[capacityRows]
 *    if it is left-joined:                    int8 matched[capacityRows]   1, or 0 without a match
 *  (each array starts at a multiple of 64 bytes)
 * </pre>
 *
 * <p>A variableWidthRef is the native address of {@code int32 lengthBytes} and the build row's
 * variable-width values, in the layout of a chunk. If a left-joined dimension has no match, its
 * payload values and its variableWidthRef are 0.
 */
public final class ResultLayout {

    private final int capacityRows;
    private final long[][] payloadOffsets;
    private final int[][] payloadWidths;
    private final long[] variableWidthOffsets;
    private final long[] matchedOffsets;
    private final long lengthBytes;

    public ResultLayout(JoinSpec spec, int capacityRows) {
        this.capacityRows = capacityRows;
        int dimensions = spec.dimensions().size();
        this.payloadOffsets = new long[dimensions][];
        this.payloadWidths = new int[dimensions][];
        this.variableWidthOffsets = new long[dimensions];
        this.matchedOffsets = new long[dimensions];
        long next = align(4L * capacityRows);
        for (int d = 0; d < dimensions; d++) {
            DimensionSpec dimension = spec.dimensions().get(d);
            List<Integer> columns = dimension.payloadColumns();
            payloadOffsets[d] = new long[columns.size()];
            payloadWidths[d] = new int[columns.size()];
            for (int i = 0; i < columns.size(); i++) {
                int width = dimension.schema().column(columns.get(i)).type().widthBytes();
                payloadOffsets[d][i] = next;
                payloadWidths[d][i] = width;
                next = align(next + (long) width * capacityRows);
            }
            variableWidthOffsets[d] = -1;
            if (dimension.hasVariableWidthPayload()) {
                variableWidthOffsets[d] = next;
                next = align(next + 8L * capacityRows);
            }
            matchedOffsets[d] = -1;
            if (dimension.kind().hasNullPayload()) {
                matchedOffsets[d] = next;
                next = align(next + capacityRows);
            }
        }
        this.lengthBytes = next;
    }

    public int capacityRows() {
        return capacityRows;
    }

    /** Returns the bytes of a batch. */
    public long lengthBytes() {
        return lengthBytes;
    }

    public long probeRowOffset() {
        return 0;
    }

    /** Returns the number of fixed-width payload columns of the dimension. */
    public int payloadCount(int dimension) {
        return payloadOffsets[dimension].length;
    }

    /**
     * Returns the offset of a fixed-width payload column.
     *
     * @param payload index in {@link DimensionSpec#payloadColumns}
     */
    public long payloadOffset(int dimension, int payload) {
        return payloadOffsets[dimension][payload];
    }

    public int payloadWidth(int dimension, int payload) {
        return payloadWidths[dimension][payload];
    }

    /**
     * Returns the offset of the variableWidthRef array, or -1 if the dimension has no
     * variable-width columns.
     */
    public long variableWidthOffset(int dimension) {
        return variableWidthOffsets[dimension];
    }

    /** Returns the offset of the matched array, or -1 if every row has a match. */
    public long matchedOffset(int dimension) {
        return matchedOffsets[dimension];
    }

    private static long align(long offset) {
        return (offset + Region.ALIGNMENT_BYTES - 1) & -Region.ALIGNMENT_BYTES;
    }
}
