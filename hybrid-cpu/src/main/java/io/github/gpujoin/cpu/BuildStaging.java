// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.cpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.PagedMemory;
import org.jspecify.annotations.Nullable;

/**
 * Build rows of one dimension in order of arrival, copied to native memory so that their chunks can
 * be freed.
 *
 * <p>Rows are in {@link RowLayout}; variable-width columns are stored out of line as {@code int32
 * lengthBytes} and the bytes. Not thread-safe.
 */
final class BuildStaging implements AutoCloseable {

    private final RowLayout layout;
    private final Allocator allocator;
    private final PagedMemory rows;
    private PagedMemory variableWidth;
    private long rowCount;
    private long minKey = Long.MAX_VALUE;
    private long maxKey = Long.MIN_VALUE;

    /**
     * @param allocator of the rows and of the table built from them
     */
    BuildStaging(RowLayout layout, Allocator allocator) {
        this.layout = layout;
        this.allocator = allocator;
        this.rows = new PagedMemory(allocator);
        this.variableWidth = new PagedMemory(allocator);
    }

    Allocator allocator() {
        return allocator;
    }

    RowLayout layout() {
        return layout;
    }

    long rowCount() {
        return rowCount;
    }

    /** Returns the smallest key; undefined without rows. */
    long minKey() {
        return minKey;
    }

    /** Returns the largest key; undefined without rows. */
    long maxKey() {
        return maxKey;
    }

    PagedMemory rows() {
        return rows;
    }

    /** Visits rows in extents of whole rows. */
    static Work pass(
            PagedMemory.Cursor cursor, RowLayout layout, PagedMemory.ExtentVisitor visitor) {
        return maxRows -> !cursor.next(maxRows * layout.rowBytes(), visitor);
    }

    long lengthBytes() {
        return rows.lengthBytes() + variableWidth.lengthBytes();
    }

    /** Transfers ownership of the variable-width bytes, which rows reference by address. */
    PagedMemory detachVariableWidth() {
        PagedMemory detached = variableWidth;
        variableWidth = new PagedMemory(allocator);
        return detached;
    }

    void append(Chunk chunk) {
        int row = 0;
        while (row < chunk.rowCount()) {
            long room = Math.max(1, rows.roomBytes() / layout.rowBytes());
            int count = (int) Math.min(room, chunk.rowCount() - row);
            appendRows(chunk, row, count, rows.allocate((long) count * layout.rowBytes()));
            row += count;
        }
        rowCount += chunk.rowCount();
    }

    private void appendRows(Chunk chunk, int firstRow, int count, long target) {
        int keyWidth = layout.keyColumnBytes();
        copyColumn(chunk, layout.keyColumn(), keyWidth, layout.keyBytes(), firstRow, count, target);
        widenKeyRange(target, count);
        for (int i = 0; i < layout.payloadCount(); i++) {
            long at = target + layout.payloadOffset(i);
            int width = layout.payloadWidth(i);
            copyColumn(chunk, layout.payloadColumn(i), width, width, firstRow, count, at);
        }
        if (layout.variableWidthOffset() >= 0) {
            for (int i = 0; i < count; i++) {
                long at = target + (long) i * layout.rowBytes() + layout.variableWidthOffset();
                Memory.putLong(at, copyVariableWidth(chunk, firstRow + i));
            }
        }
    }

    private void widenKeyRange(long rows, int count) {
        long min = minKey;
        long max = maxKey;
        for (int i = 0; i < count; i++) {
            long key = layout.key(rows + (long) i * layout.rowBytes());
            min = Math.min(min, key);
            max = Math.max(max, key);
        }
        minKey = min;
        maxKey = max;
    }

    /**
     * @param widthBytes of the column
     * @param fieldBytes of its field in a row, which differ for keys of 1 and 2 bytes only
     */
    private void copyColumn(
            Chunk chunk,
            int column,
            int widthBytes,
            int fieldBytes,
            int firstRow,
            int count,
            long target) {
        byte[] array = chunk.array();
        long source = chunk.columnStart(column) + (long) widthBytes * firstRow;
        int stride = layout.rowBytes();
        if (widthBytes == Long.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putLong(target + (long) i * stride, longAt(array, source + 8L * i));
            }
        } else if (widthBytes == Integer.BYTES) {
            for (int i = 0; i < count; i++) {
                Memory.putInt(target + (long) i * stride, intAt(array, source + 4L * i));
            }
        } else {
            for (int i = 0; i < count; i++) {
                long value = Memory.getInteger(array, source + (long) widthBytes * i, widthBytes);
                Memory.putInteger(null, target + (long) i * stride, fieldBytes, value);
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

    private long copyVariableWidth(Chunk chunk, int row) {
        long start = chunk.variableWidthStart(row);
        int length = (int) (chunk.variableWidthEnd(row) - start);
        long address = variableWidth.allocate(4L + length);
        Memory.putInt(address, length);
        Memory.copy(chunk.array(), start, null, address + 4, length);
        return address;
    }

    @Override
    public void close() {
        rows.close();
        variableWidth.close();
    }
}
