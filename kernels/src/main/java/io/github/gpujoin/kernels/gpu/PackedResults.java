// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultLayout;
import java.util.List;

/**
 * Results of a join in which no fact has more than one: a bit for each fact instead of row numbers,
 * and payload columns in as many bits as their range needs.
 *
 * <pre>
 *  rowMask      bit[capacityRows]              bit i: fact i of the step has a result
 *  for each dimension:
 *    for each fixed-width payload column:      code[capacityRows]
 *    if it has variable-width columns:         code[capacityRows] of the variableWidthRefs
 *    if it is left-joined:                     matchedMask, bit[capacityRows]
 *                                              bit i: fact i of the step has a match
 *  (each array starts at a multiple of 128 bytes)
 * </pre>
 *
 * <p>A code is the difference of a value from the minimum of its column, an unsigned number of a
 * fixed number of bits, see {@link ResultColumn}. Masks and codes are numbered from the lowest bit
 * of the first byte. Columns of 4 and 8 bytes of which packing would save less than an eighth
 * contain whole values. The results of {@link PlanDescriptor#PACKED_ROWS} facts are adjacent; those
 * of the next facts start at the next multiple of 64 results.
 *
 * <p>A step joins at most {@code capacityRows} facts. {@code layout.h} has the same layout.
 */
final class PackedResults implements ResultFormat {

    private static final int ALIGNMENT_BYTES = 128;
    private static final int WORD_BITS = Long.SIZE;

    /** A reader loads 8 bytes at the byte of a code's first bit. */
    private static final int SLACK_BYTES = Long.BYTES;

    private final JoinSpec spec;
    private final int capacityRows;
    private final ResultColumn[][] columns;
    private final long[] matchedOffsets;
    private final long bufferBytes;
    private final long unpacked;
    private double resultBytes = 1.0 / Byte.SIZE;

    /** See {@link ResultFormat#of}. */
    PackedResults(
            JoinSpec spec,
            List<GpuTable> tables,
            int segmentRows,
            int capacityRows,
            Buffers buffers) {
        this.spec = spec;
        this.capacityRows = capacityOf(segmentRows, capacityRows);
        this.columns = new ResultColumn[tables.size()][];
        this.matchedOffsets = new long[tables.size()];
        long next = arrayEnd(0, 1);
        for (int d = 0; d < tables.size(); d++) {
            GpuTable table = tables.get(d);
            boolean isLeft = spec.dimensions().get(d).kind().hasNullPayload();
            BuildRowLayout row = table.layout();
            columns[d] = new ResultColumn[row.payloadCount() + 1];
            for (int i = 0; i <= row.payloadCount(); i++) {
                if (i < row.payloadCount() || row.variableWidthOffset() >= 0) {
                    int widthBytes = i < row.payloadCount() ? row.payloadWidth(i) : Long.BYTES;
                    PayloadRange range = table.range(i);
                    columns[d][i] = column(next, widthBytes, isLeft ? range.withZero() : range);
                    next = arrayEnd(next, columns[d][i].bits());
                    resultBytes += (double) columns[d][i].bits() / Byte.SIZE;
                }
            }
            if (isLeft) {
                matchedOffsets[d] = next;
                next = arrayEnd(next, 1);
                resultBytes += 1.0 / Byte.SIZE;
            }
        }
        this.bufferBytes = next;
        this.unpacked = buffers.pinned(new ResultLayout(spec, this.capacityRows).lengthBytes());
    }

    int dimensionCount() {
        return columns.length;
    }

    /** Returns whether no fact has more than one result, and results are rows. */
    static boolean supports(JoinSpec spec, List<GpuTable> tables) {
        for (int d = 0; d < tables.size(); d++) {
            DimensionSpec dimension = spec.dimensions().get(d);
            if (!JoinPlan.isOnce(dimension) && !tables.get(d).hasUniqueKeys()) {
                return false;
            }
        }
        return !spec.isAggregating();
    }

    /**
     * A step ends with its segment, with a batch of facts, or within a batch: the next one must not
     * read rows of two batches. Encoded segments may have more rows than others.
     */
    private static int capacityOf(int segmentRows, int capacityRows) {
        int rows = align(Math.min(segmentRows, capacityRows), WORD_BITS);
        return PlanDescriptor.PACKED_ROWS % rows == 0
                ? rows
                : align(rows, PlanDescriptor.PACKED_ROWS);
    }

    private static int align(int rows, int multiple) {
        return (rows + multiple - 1) / multiple * multiple;
    }

    private static ResultColumn column(long offset, int widthBytes, PayloadRange range) {
        if (widthBytes < Integer.BYTES) {
            return ResultColumn.packed(offset, widthBytes, range.within(widthBytes));
        }
        int wholeBits = Byte.SIZE * widthBytes;
        return ResultColumn.codeBits(range) <= wholeBits - wholeBits / 8
                ? ResultColumn.packed(offset, widthBytes, range)
                : ResultColumn.whole(offset, widthBytes);
    }

    private long arrayEnd(long offset, int bits) {
        long lengthBytes = bits == 0 ? 0 : (long) capacityRows / Byte.SIZE * bits + SLACK_BYTES;
        return (offset + lengthBytes + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }

    @Override
    public long bufferBytes() {
        return bufferBytes;
    }

    @Override
    public int capacityRows() {
        return capacityRows;
    }

    @Override
    public boolean isPacked() {
        return true;
    }

    @Override
    public ResultColumn column(int dimension, int payload) {
        return columns[dimension][payload];
    }

    @Override
    public long matchedOffset(int dimension) {
        return matchedOffsets[dimension];
    }

    @Override
    public double resultBytes() {
        return resultBytes;
    }

    @Override
    public ResultLayout newLayout() {
        return new ResultLayout(spec, capacityRows);
    }

    @Override
    public Reader newReader(ResultLayout layout) {
        return new PackedResultBatch(this, layout, unpacked);
    }
}
