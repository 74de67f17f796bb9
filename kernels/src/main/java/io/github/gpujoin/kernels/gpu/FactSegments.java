// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;

/**
 * Writes segments: rows of a fact chunk, with only the columns used for joins, filters, aggregation
 * and null keys. Each column is written once, however often it is used. No other bytes of a fact
 * cross the bus.
 */
final class FactSegments {

    private static final int ALIGNMENT_BYTES = 64;

    private final int fingerprint;
    private final List<Integer> factColumns = new ArrayList<>();
    private final List<Integer> widths = new ArrayList<>();

    FactSegments(JoinSpec spec) {
        this(spec, List.of());
    }

    /**
     * @param furtherColumns fixed-width fact columns to transfer in addition
     */
    FactSegments(JoinSpec spec, List<Integer> furtherColumns) {
        this.fingerprint = spec.factSchema().fingerprint();
        spec.dimensions().forEach(dimension -> add(spec, dimension.factKeyColumn()));
        spec.filters().forEach(filter -> add(spec, filter.column()));
        if (spec.isAggregating()) {
            spec.aggregation()
                    .columns()
                    .filter(JoinColumn::isFact)
                    .forEach(c -> add(spec, c.column()));
        }
        if (spec.hasNullKeys()) {
            add(spec, spec.nullKeysColumn());
        }
        furtherColumns.forEach(column -> add(spec, column));
    }

    private void add(JoinSpec spec, int column) {
        if (!factColumns.contains(column)) {
            factColumns.add(column);
            widths.add(spec.factSchema().column(column).type().widthBytes());
        }
    }

    int columnCount() {
        return factColumns.size();
    }

    int columnWidth(int column) {
        return widths.get(column);
    }

    /** Returns the segment column that holds a fact column, or -1 if none does. */
    int columnOf(int factColumn) {
        return factColumns.indexOf(factColumn);
    }

    int fingerprint() {
        return fingerprint;
    }

    /** Returns the bytes of a segment with this number of rows, a multiple of 64. */
    int lengthBytes(int rowCount) {
        long length = ChunkDescriptor.HEADER_BYTES;
        for (int width : widths) {
            length += align((long) width * rowCount);
        }
        return Math.toIntExact(length);
    }

    /**
     * Writes rows {@code firstRow} to {@code firstRow + rowCount - 1} of the chunk as one segment.
     */
    void write(Chunk chunk, int firstRow, int rowCount, long address, long epoch, long sequence) {
        int length = lengthBytes(rowCount);
        long column = address + ChunkDescriptor.HEADER_BYTES;
        for (int i = 0; i < factColumns.size(); i++) {
            long width = widths.get(i);
            long source = Memory.BYTES + chunk.columnOffset(factColumns.get(i)) + width * firstRow;
            Memory.copy(chunk.array(), source, null, column, width * rowCount);
            long end = column + width * rowCount;
            column += align(width * rowCount);
            Memory.fill(null, end, column - end, (byte) 0);
        }
        writeHeader(address, length, rowCount, epoch, sequence);
    }

    private void writeHeader(long address, int length, int rowCount, long epoch, long sequence) {
        Memory.fill(null, address, ChunkDescriptor.HEADER_BYTES, (byte) 0);
        Memory.putInt(address + ChunkDescriptor.MAGIC_OFFSET, ChunkDescriptor.MAGIC);
        Memory.putInt(
                address + ChunkDescriptor.VERSION_OFFSET,
                ChunkDescriptor.VERSION | ChunkDescriptor.HEADER_BYTES << 16);
        Memory.putInt(address + ChunkDescriptor.LENGTH_OFFSET, length);
        Memory.putInt(address + ChunkDescriptor.ROW_COUNT_OFFSET, rowCount);
        Memory.putInt(address + ChunkDescriptor.SCHEMA_OFFSET, fingerprint);
        Memory.putShort(
                null, address + ChunkDescriptor.DIMENSION_OFFSET, (short) ChunkDescriptor.FACTS);
        Memory.putInt(address + ChunkDescriptor.PARTITION_OFFSET, ChunkDescriptor.UNPARTITIONED);
        Memory.putLong(address + ChunkDescriptor.EPOCH_OFFSET, epoch);
        Memory.putLong(address + ChunkDescriptor.SEQUENCE_OFFSET, sequence);
        long checksum = ChunkChecksum.of(null, address, length);
        Memory.putLong(address + ChunkDescriptor.CHECKSUM_OFFSET, checksum);
    }

    private static long align(long length) {
        return (length + ALIGNMENT_BYTES - 1) & -ALIGNMENT_BYTES;
    }
}
