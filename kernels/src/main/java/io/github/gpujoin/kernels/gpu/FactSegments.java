// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.encoding.ColumnsEncoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.JoinColumn;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Writes segments: rows of a fact chunk, with only the columns used for joins, filters, aggregation
 * and null keys. Each column is written once, however often it is used. No other bytes of a fact
 * cross the bus. Columns may be encoded; then every segment is the shorter of both forms. Not
 * thread-safe.
 */
final class FactSegments {

    private static final int ALIGNMENT_BYTES = 64;

    /** Rows that the kernel decodes; the length of a segment does not limit them. */
    static final int MAX_ENCODED_ROWS = 1 << 20;

    private final int fingerprint;
    private final List<Integer> chunkColumns;
    private final List<Integer> factColumns = new ArrayList<>();
    private final List<Integer> widths = new ArrayList<>();

    /** Null if segments are never encoded. */
    private final @Nullable ColumnsEncoder encoder;

    FactSegments(JoinSpec spec, boolean encodes) {
        this(spec, encodes, List.of());
    }

    /**
     * @param furtherColumns fixed-width fact columns to transfer in addition
     */
    FactSegments(JoinSpec spec, boolean encodes, List<Integer> furtherColumns) {
        this.fingerprint = spec.factSchema().fingerprint();
        this.chunkColumns = columnsOf(spec.factSchema());
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
        this.encoder = encodes ? new ColumnsEncoder(factColumns) : null;
    }

    private static List<Integer> columnsOf(ChunkSchema schema) {
        return schema.hasVariableWidth() || schema.size() > PlanDescriptor.MAX_FACT_COLUMNS
                ? List.of()
                : IntStream.range(0, schema.size()).boxed().toList();
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

    /**
     * Returns the columns of a chunk that the kernel can read in place; empty if it cannot, because
     * a column has variable width or there are too many.
     */
    List<Integer> chunkColumns() {
        return chunkColumns;
    }

    /** Returns whether segments may have encoded columns. */
    boolean encodes() {
        return encoder != null;
    }

    /**
     * Returns the bytes of a plain segment with this number of rows, a multiple of 64. An encoded
     * one is shorter.
     */
    int plainBytes(int rowCount) {
        long length = ChunkDescriptor.HEADER_BYTES;
        for (int width : widths) {
            length += align((long) width * rowCount);
        }
        return Math.toIntExact(length);
    }

    /**
     * Returns the bytes of a segment with all rows of a chunk whose columns stay encoded; more than
     * any segment has if the kernel cannot decode so many rows.
     */
    long encodedBytes(EncodedChunk chunk) {
        return chunk.rowCount() > MAX_ENCODED_ROWS
                ? Long.MAX_VALUE
                : chunk.lengthBytes(factColumns);
    }

    /**
     * Writes all rows of a chunk as one segment, encoded as they are.
     *
     * @param address of {@link #encodedBytes} bytes
     * @return the bytes of the segment
     */
    int writeEncoded(EncodedChunk chunk, long address, long epoch, long sequence) {
        int length = (int) encodedBytes(chunk);
        chunk.copyColumns(factColumns, address);
        int rows = chunk.rowCount();
        writeHeader(address, ChunkDescriptor.ENCODED, length, rows, epoch, sequence);
        return length;
    }

    /**
     * Writes rows {@code firstRow} to {@code firstRow + rowCount - 1} of the chunk as one segment.
     *
     * @param address of memory for a plain segment
     * @return the bytes of the segment
     */
    int write(Chunk chunk, int firstRow, int rowCount, long address, long epoch, long sequence) {
        int plain = plainBytes(rowCount);
        int encoded = encoder == null ? 0 : encoder.encode(chunk, firstRow, rowCount, plain, 0);
        if (encoded > 0) {
            long body = address + ChunkDescriptor.HEADER_BYTES;
            Memory.copy(
                    encoder.bytes(),
                    Memory.BYTES + ChunkDescriptor.HEADER_BYTES,
                    null,
                    body,
                    encoded - ChunkDescriptor.HEADER_BYTES);
            writeHeader(address, ChunkDescriptor.ENCODED, encoded, rowCount, epoch, sequence);
            return encoded;
        }
        writeColumns(chunk, firstRow, rowCount, address);
        writeHeader(address, 0, plain, rowCount, epoch, sequence);
        return plain;
    }

    private void writeColumns(Chunk chunk, int firstRow, int rowCount, long address) {
        long column = address + ChunkDescriptor.HEADER_BYTES;
        for (int i = 0; i < factColumns.size(); i++) {
            long width = widths.get(i);
            long source = chunk.columnStart(factColumns.get(i)) + width * firstRow;
            Memory.copy(chunk.array(), source, null, column, width * rowCount);
            long end = column + width * rowCount;
            column += align(width * rowCount);
            Memory.fill(null, end, column - end, (byte) 0);
        }
    }

    private void writeHeader(
            long address, int flags, int length, int rowCount, long epoch, long sequence) {
        int version = flags == 0 ? ChunkDescriptor.VERSION : ChunkDescriptor.VERSION_WITH_FLAGS;
        Memory.fill(null, address, ChunkDescriptor.HEADER_BYTES, (byte) 0);
        Memory.putInt(address + ChunkDescriptor.MAGIC_OFFSET, ChunkDescriptor.MAGIC);
        Memory.putInt(
                address + ChunkDescriptor.VERSION_OFFSET,
                version | ChunkDescriptor.HEADER_BYTES << 16);
        Memory.putInt(address + ChunkDescriptor.LENGTH_OFFSET, length);
        Memory.putInt(address + ChunkDescriptor.ROW_COUNT_OFFSET, rowCount);
        Memory.putInt(address + ChunkDescriptor.SCHEMA_OFFSET, fingerprint);
        Memory.putShort(
                null, address + ChunkDescriptor.DIMENSION_OFFSET, (short) ChunkDescriptor.FACTS);
        Memory.putShort(null, address + ChunkDescriptor.FLAGS_OFFSET, (short) flags);
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
