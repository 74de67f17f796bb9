// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu.bulk;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.bulk.VariableWidthRow;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Partitions the rows of one input by the lowest bits of the hash of their key, for one thread. Not
 * thread-safe.
 *
 * <p>It sorts a slice of a chunk by partition in a buffer that fits the processor's cache, column
 * by column, and then copies the run of each partition to the {@link PartitionStore}. So each
 * partition receives whole cache lines (software write-combining), and few pages are written at a
 * time. Java has no non-temporal stores.
 */
final class RadixPartitioner implements AutoCloseable {

    private static final int BUFFER_BYTES = 512 << 10;
    private static final int MAX_SLICE_ROWS = 32 << 10;

    private final TupleLayout layout;
    private final BulkKeyEncoder encoder;
    private final VariableWidthRow values;
    private final Allocator allocator;
    private final PartitionStore store;
    private final boolean keepsNulls;
    private final int sliceRows;

    /** Joined partitions; behind them one of rows that have no match, and one of dropped rows. */
    private final int partitions;

    private final int[] partitionOf;
    private final int[] starts;

    /** Addresses in the buffer, by row of the slice. */
    private final long[] targets;

    private @Nullable Region buffer;

    /**
     * @param partitions a power of two
     * @param allocator of all tuples
     */
    RadixPartitioner(BulkJoinSpec spec, JoinSide side, int partitions, Allocator allocator) {
        this.partitions = partitions;
        this.allocator = allocator;
        this.keepsNulls = spec.kind().keepsUnmatched(side);
        this.values = new VariableWidthRow(spec.input(side).schema());
        this.layout = new TupleLayout(spec, side);
        this.sliceRows = Math.max(1, Math.min(MAX_SLICE_ROWS, BUFFER_BYTES / layout.tupleBytes()));
        this.encoder = new BulkKeyEncoder(spec, side, sliceRows);
        this.store = new PartitionStore(partitions + 1, layout.tupleBytes(), allocator);
        this.partitionOf = new int[sliceRows];
        this.targets = new long[sliceRows];
        this.starts = new int[partitions + 3];
    }

    TupleLayout layout() {
        return layout;
    }

    /** Returns the partitions; the last one has rows without a match because of null keys. */
    PartitionStore store() {
        return store;
    }

    /** Returns the bytes of memory of all tuples that were not spilled, and of the buffer. */
    long memoryBytes() {
        return store.memoryBytes() + (buffer == null ? 0 : buffer.lengthBytes());
    }

    /**
     * Returns the rows of the next slice of a chunk, at least 1.
     *
     * @param maxBytes of the variable-width values, unless one row has more
     */
    int sliceRows(Chunk chunk, int firstRow, long maxBytes) {
        int most = Math.min(sliceRows, chunk.rowCount() - firstRow);
        if (!chunk.schema().hasVariableWidth()) {
            return most;
        }
        long end = chunk.variableWidthStart(firstRow) + maxBytes;
        int least = 1;
        while (least < most) {
            int rows = (least + most + 1) >>> 1;
            if (chunk.variableWidthEnd(firstRow + rows - 1) <= end) {
                least = rows;
            } else {
                most = rows - 1;
            }
        }
        return least;
    }

    /**
     * Partitions some rows of a chunk.
     *
     * @param count at most {@link #sliceRows}
     */
    void append(Chunk chunk, int firstRow, int count) {
        if (buffer == null) {
            buffer = allocator.allocate(bufferBytes());
        }
        long start = buffer.address();
        encoder.encode(chunk, firstRow, count);
        assignPartitions(count);
        assignTargets(start, count);
        writeWords(count);
        for (int column : layout.storedColumns()) {
            writeColumn(chunk, column, firstRow, count);
        }
        if (layout.hasOutOfLine()) {
            writeOutOfLine(chunk, firstRow, count);
        }
        for (int p = 0; p <= partitions; p++) {
            int run = starts[p + 1] - starts[p];
            if (run > 0) {
                store.append(p, start + (long) starts[p] * layout.tupleBytes(), run);
            }
        }
    }

    private void assignPartitions(int count) {
        long[] words = encoder.words();
        int mask = partitions - 1;
        for (int i = 0; i < count; i++) {
            partitionOf[i] = (int) SlotHash.hash(words[i]) & mask;
        }
        if (encoder.hasNulls()) {
            for (int i = 0; i < count; i++) {
                if (encoder.isNull(i)) {
                    partitionOf[i] = keepsNulls ? partitions : partitions + 1;
                }
            }
        }
    }

    /** Sorts by counting. Afterwards, {@link #starts} has the first position of each partition. */
    private void assignTargets(long start, int count) {
        Arrays.fill(starts, 0);
        for (int i = 0; i < count; i++) {
            starts[partitionOf[i]]++;
        }
        int end = 0;
        for (int p = 0; p < starts.length; p++) {
            end += starts[p];
            starts[p] = end;
        }
        // From the back, so that ends become starts.
        long tupleBytes = layout.tupleBytes();
        for (int i = count - 1; i >= 0; i--) {
            targets[i] = start + --starts[partitionOf[i]] * tupleBytes;
        }
    }

    private void writeWords(int count) {
        long[] words = encoder.words();
        for (int i = 0; i < count; i++) {
            Memory.putLong(targets[i], words[i]);
        }
    }

    private void writeColumn(Chunk chunk, int column, int firstRow, int count) {
        int width = layout.widthBytes(column);
        int offset = layout.offset(column);
        byte[] array = chunk.array();
        long source = chunk.columnStart(column) + (long) width * firstRow;
        if (width == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(targets[i] + offset, longAt(array, source + 8L * i));
            }
        } else if (width == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putInt(targets[i] + offset, intAt(array, source + 4L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                long value = Memory.getInteger(array, source + (long) width * i, width);
                Memory.putInteger(null, targets[i] + offset, width, value);
            }
        }
    }

    /** The null check tells the compiler which of both memories it reads. */
    private static long longAt(byte @Nullable [] array, long at) {
        return array == null ? Memory.getLong(at) : Memory.getLong(array, at);
    }

    private static int intAt(byte @Nullable [] array, long at) {
        return array == null ? Memory.getInt(at) : Memory.getInt(array, at);
    }

    // ------------------------------------------------------------------ out of line

    private void writeOutOfLine(Chunk chunk, int firstRow, int count) {
        boolean hasValues = !layout.variableWidthColumns().isEmpty();
        for (int i = 0; i < count; i++) {
            if (partitionOf[i] > partitions) {
                continue;
            }
            int keyBytes = layout.hasKeyBytes() ? encoder.keyEnd(i) - encoder.keyStart(i) : 0;
            int valueBytes = 0;
            if (hasValues) {
                values.at(chunk, firstRow + i);
                valueBytes = values.lengthBytes(layout.variableWidthColumns());
            }
            long headerBytes = (layout.hasKeyBytes() ? 4L : 0L) + (hasValues ? 4L : 0L);
            long at = store.allocateOutOfLine(headerBytes + keyBytes + valueBytes);
            Memory.putLong(targets[i] + layout.outOfLineOffset(), at);
            if (layout.hasKeyBytes()) {
                Memory.putInt(at, keyBytes);
                long source = Memory.BYTES + encoder.keyStart(i);
                Memory.copy(encoder.keyBytes(), source, null, at + 4, keyBytes);
                at += 4L + keyBytes;
            }
            if (hasValues) {
                Memory.putInt(at, valueBytes);
                values.copy(chunk, layout.variableWidthColumns(), at + 4);
            }
        }
    }

    /** Returns the bytes of the buffer. */
    long bufferBytes() {
        return (long) sliceRows * layout.tupleBytes();
    }

    /** Frees the buffer. The partitions remain. */
    void freeBuffer() {
        if (buffer != null) {
            buffer.close();
            buffer = null;
        }
    }

    @Override
    public void close() {
        store.close();
        freeBuffer();
    }
}
