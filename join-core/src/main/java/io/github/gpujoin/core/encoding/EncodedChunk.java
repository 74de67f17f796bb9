// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkHeader;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.ChunkSlot;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import java.util.function.IntToLongFunction;
import org.jspecify.annotations.Nullable;

/**
 * A chunk whose fixed-width columns stay encoded. {@link #bytes()} and {@link #lengthBytes()} are
 * those of the encoded chunk, so that it is sent and stored as it is.
 *
 * <p>Readers of many rows use an {@link EncodedColumnReader} or a {@link PlainColumn}, which decode
 * to memory that they reuse. All others see plain columns: the first call that needs their memory
 * decodes the whole chunk to the heap, once. Thread-safe.
 */
public final class EncodedChunk extends Chunk {

    private static final ThreadLocal<TileScratch> SCRATCH =
            ThreadLocal.withInitial(TileScratch::new);

    private final byte @Nullable [] stored;
    private final long storedStart;
    private final int storedVariableWidth;
    private final @Nullable EncodedColumn[] columns;
    private final int plainBytes;
    private volatile @Nullable Chunk plain;

    EncodedChunk(
            ChunkSchema schema,
            byte @Nullable [] stored,
            long start,
            ChunkHeader header,
            @Nullable ChunkSlot slot,
            @Nullable EncodedColumn[] columns,
            int plainBytes,
            boolean isTransient) {
        super(schema, stored, start, header, schema.offsets(header.rowCount()), slot, isTransient);
        this.stored = stored;
        this.storedStart = start;
        this.storedVariableWidth = header.variableWidthOffset();
        this.columns = columns;
        this.plainBytes = plainBytes;
    }

    /** Returns a fixed-width column. */
    EncodedColumn column(int column) {
        EncodedColumn encoded = columns[column];
        if (encoded == null) {
            throw new IllegalArgumentException(
                    "Column has variable width: column=" + schema().column(column));
        }
        return encoded;
    }

    /** Returns the length of a chunk of the same rows with only some of the fixed-width columns. */
    public long lengthBytes(List<Integer> selected) {
        long length = firstBody(selected);
        for (int column : selected) {
            length += column(column).bodyBytes();
        }
        return length;
    }

    /**
     * Writes some of the fixed-width columns to a chunk in native memory, encoded as they are, with
     * all but the header of that chunk.
     *
     * @param start address of {@link #lengthBytes(List)} bytes
     */
    public void copyColumns(List<Integer> selected, long start) {
        int entry = ChunkDescriptor.HEADER_BYTES;
        int body = firstBody(selected);
        for (int column : selected) {
            column(column).copyTo(null, start, entry, body);
            entry += EncodedColumnDescriptor.ENTRY_BYTES;
            body += column(column).bodyBytes();
        }
    }

    private static int firstBody(List<Integer> selected) {
        return ChunkDescriptor.HEADER_BYTES + selected.size() * EncodedColumnDescriptor.ENTRY_BYTES;
    }

    /**
     * Returns the chunk with plain columns, on the heap.
     *
     * @throws io.github.gpujoin.core.layout.ChunkFormatException if codes or runs of a column are
     *     wrong
     */
    Chunk plain() {
        Chunk decoded = plain;
        if (decoded == null) {
            synchronized (this) {
                decoded = plain;
                if (decoded == null) {
                    decoded = Chunk.unverified(schema(), decode());
                    plain = decoded;
                }
            }
        }
        return decoded;
    }

    private byte[] decode() {
        byte[] bytes = new byte[plainBytes];
        Memory.copy(stored, storedStart, bytes, Memory.BYTES, ChunkDescriptor.HEADER_BYTES);
        int[] offsets = schema().offsets(rowCount());
        TileScratch scratch = SCRATCH.get();
        for (int column = 0; column < columns.length; column++) {
            if (columns[column] != null) {
                columns[column].decode(bytes, Memory.BYTES + offsets[column], scratch);
            }
        }
        int fixedEnd = offsets[schema().size()];
        if (storedVariableWidth > 0) {
            long section = storedStart + storedVariableWidth;
            Memory.copy(stored, section, bytes, Memory.BYTES + fixedEnd, plainBytes - fixedEnd);
            long at = Memory.BYTES + ChunkDescriptor.VARIABLE_WIDTH_OFFSET;
            Memory.putInt(bytes, at, fixedEnd);
        }
        writePlainHeader(bytes);
        return bytes;
    }

    private static void writePlainHeader(byte[] plain) {
        long header = Memory.BYTES;
        int flags =
                Memory.getShort(plain, header + ChunkDescriptor.FLAGS_OFFSET)
                        & ~ChunkDescriptor.ENCODED;
        int version = flags == 0 ? ChunkDescriptor.VERSION : ChunkDescriptor.VERSION_WITH_FLAGS;
        Memory.putShort(plain, header + ChunkDescriptor.VERSION_OFFSET, (short) version);
        Memory.putShort(plain, header + ChunkDescriptor.FLAGS_OFFSET, (short) flags);
        Memory.putInt(plain, header + ChunkDescriptor.LENGTH_OFFSET, plain.length);
        // Chunk.bytes() computes it.
        Memory.putLong(plain, header + ChunkDescriptor.CHECKSUM_OFFSET, 0);
    }

    // ------------------------------------------------------------------ as stored

    @Override
    public Chunk onHeap() {
        if (stored != null && !isTransient()) {
            return this;
        }
        byte[] copy = copy();
        ChunkHeader header = ChunkHeader.read(schema(), copy);
        return ChunkDecoder.opened(schema(), header, copy, Memory.BYTES, null, false);
    }

    @Override
    public int getInt(int column, int row) {
        return isDecodedAlone(column, row) && schema().column(column).type() == ColumnType.INT32
                ? (int) columns[column].value(row)
                : plain().getInt(column, row);
    }

    @Override
    public long getLong(int column, int row) {
        return isDecodedAlone(column, row) && schema().column(column).type().isInteger()
                ? columns[column].value(row)
                : plain().getLong(column, row);
    }

    /**
     * Whether a value is decoded alone: nobody has decoded the chunk, and the row exists; if not,
     * the plain chunk throws the exception.
     */
    private boolean isDecodedAlone(int column, int row) {
        return plain == null && columns[column] != null && row >= 0 && row < rowCount();
    }

    // ------------------------------------------------------------------ decoded

    @Override
    public double getDouble(int column, int row) {
        return plain().getDouble(column, row);
    }

    @Override
    public byte @Nullable [] array() {
        return plain().array();
    }

    @Override
    public long start() {
        return plain().start();
    }

    @Override
    public long columnStart(int column) {
        return plain().columnStart(column);
    }

    @Override
    public Chunk withLongs(int column, IntToLongFunction values) {
        return plain().withLongs(column, values);
    }

    @Override
    public Chunk withPartition(int partition) {
        return plain().withPartition(partition);
    }

    @Override
    public long variableWidthStart(int row) {
        return plain().variableWidthStart(row);
    }

    @Override
    public long variableWidthEnd(int row) {
        return plain().variableWidthEnd(row);
    }

    @Override
    public int variableWidthOffset() {
        return plain().variableWidthOffset();
    }
}
