// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Packed results of a step. A column is unpacked when its address is first asked for, so a column
 * that nobody reads costs nothing. Where possible, whole values are read from the result buffer.
 *
 * <p>The same object describes the results of all steps, one after the other. For one thread.
 */
final class PackedResultBatch extends ResultBatch implements ResultFormat.Reader {

    private static final long NOT_UNPACKED = 0;

    private final PackedResults format;
    private final long[][] columns;
    private final boolean[] hasMatched;

    /** Results of each batch of facts, as far as {@link #countResults} has counted them. */
    private final int[] batchResults;

    private long buffer;
    private int firstRow;
    private int factCount;
    private boolean hasProbeRows;
    private boolean hasCounts;

    /**
     * @param unpacked native memory of {@code layout.lengthBytes()} for unpacked columns
     */
    PackedResultBatch(PackedResults format, ResultLayout layout, long unpacked) {
        super(layout, unpacked);
        this.format = format;
        this.columns = new long[format.dimensionCount()][];
        for (int d = 0; d < columns.length; d++) {
            columns[d] = new long[layout.payloadCount(d) + 1];
        }
        this.hasMatched = new boolean[columns.length];
        this.batchResults =
                new int
                        [(format.capacityRows() + PlanDescriptor.PACKED_ROWS - 1)
                                / PlanDescriptor.PACKED_ROWS];
    }

    @Override
    public ResultBatch read(
            long buffer, Chunk chunk, int firstRow, int rowCount, int completedRows) {
        this.buffer = buffer;
        this.firstRow = firstRow;
        this.factCount = completedRows - firstRow;
        this.hasProbeRows = false;
        this.hasCounts = false;
        Arrays.fill(hasMatched, false);
        for (long[] addresses : columns) {
            Arrays.fill(addresses, NOT_UNPACKED);
        }
        set(chunk, rowCount, completedRows);
        return this;
    }

    @Override
    public boolean isConsecutive() {
        return hasEveryRow();
    }

    /** {@inheritDoc} Does not unpack the numbers of consecutive rows. */
    @Override
    public int probeRow(int row) {
        return hasEveryRow() && row >= 0 && row < factCount ? firstRow + row : super.probeRow(row);
    }

    @Override
    public long probeRowAddress() {
        long address = super.probeRowAddress();
        if (!hasProbeRows) {
            if (hasEveryRow()) {
                BitUnpacking.writeSequence(firstRow, factCount, address);
            } else {
                BitUnpacking.writeNumbers(buffer, wordsOf(factCount), firstRow, address);
            }
            hasProbeRows = true;
        }
        return address;
    }

    @Override
    public long payloadAddress(int dimension, int payload) {
        long address = columns[dimension][payload];
        return address != NOT_UNPACKED
                ? address
                : unpack(dimension, payload, super.payloadAddress(dimension, payload));
    }

    @Override
    public @Nullable PackedColumn packedPayload(int dimension, int payload) {
        ResultColumn column = format.column(dimension, payload);
        return column.isPacked() && isContiguous()
                ? new PackedColumn(buffer + column.offset(), column.bits(), column.base())
                : null;
    }

    /** Whether the codes of all results are adjacent. */
    private boolean isContiguous() {
        return hasEveryRow() || factCount <= PlanDescriptor.PACKED_ROWS;
    }

    @Override
    public long variableWidthAddress(int dimension) {
        int payload = layout().payloadCount(dimension);
        long address = columns[dimension][payload];
        return address != NOT_UNPACKED
                ? address
                : unpack(dimension, payload, super.variableWidthAddress(dimension));
    }

    @Override
    public long matchedAddress(int dimension) {
        long address = super.matchedAddress(dimension);
        if (layout().matchedOffset(dimension) >= 0 && !hasMatched[dimension]) {
            long mask = buffer + format.matchedOffset(dimension);
            long probeRows = probeRowAddress();
            for (int i = 0; i < rowCount(); i++) {
                int fact = Memory.getInt(probeRows + 4L * i) - firstRow;
                Memory.putByte(null, address + i, BitUnpacking.bit(mask, fact));
            }
            hasMatched[dimension] = true;
        }
        return address;
    }

    private boolean hasEveryRow() {
        return rowCount() == factCount;
    }

    /** Returns the address of an unpacked column, which may be in the result buffer. */
    private long unpack(int dimension, int payload, long target) {
        ResultColumn column = format.column(dimension, payload);
        long address = target;
        if (!isContiguous()) {
            countResults();
            long to = target;
            int position = 0;
            for (int facts = 0; facts < factCount; facts += PlanDescriptor.PACKED_ROWS) {
                int results = batchResults[facts / PlanDescriptor.PACKED_ROWS];
                unpack(column, position, results, to);
                to += (long) column.widthBytes() * results;
                position += Long.SIZE * wordsOf(results);
            }
        } else if (column.isPacked()) {
            unpack(column, 0, rowCount(), target);
        } else {
            address = buffer + column.offset();
        }
        columns[dimension][payload] = address;
        return address;
    }

    private void unpack(ResultColumn column, int position, int count, long target) {
        long from = buffer + column.offset() + (long) position / Byte.SIZE * column.bits();
        if (column.isPacked()) {
            BitUnpacking.unpack(
                    from, column.bits(), column.base(), count, target, column.widthBytes());
        } else {
            Memory.copy(null, from, null, target, (long) count * column.widthBytes());
        }
    }

    private void countResults() {
        if (hasCounts) {
            return;
        }
        for (int facts = 0; facts < factCount; facts += PlanDescriptor.PACKED_ROWS) {
            int count = Math.min(PlanDescriptor.PACKED_ROWS, factCount - facts);
            batchResults[facts / PlanDescriptor.PACKED_ROWS] =
                    BitUnpacking.count(buffer + facts / Byte.SIZE, wordsOf(count));
        }
        hasCounts = true;
    }

    private static int wordsOf(int bits) {
        return (bits + Long.SIZE - 1) / Long.SIZE;
    }
}
