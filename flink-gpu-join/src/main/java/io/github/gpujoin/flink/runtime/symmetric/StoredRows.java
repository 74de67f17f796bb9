// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.StoredRowLayout;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.jspecify.annotations.Nullable;

/**
 * Points one row object to a row of a chunk of a {@link StoredRowLayout}. A row of a chunk that is
 * not on the heap is copied there. Not thread-safe.
 */
final class StoredRows {

    private final BinaryRowData view;
    private final MemorySegment[] segments = new MemorySegment[1];

    /** The array of the segment. */
    private byte @Nullable [] array;

    /** The row, if its chunk is not on the heap. */
    private byte[] copy = new byte[256];

    StoredRows(int columns) {
        this.view = new BinaryRowData(columns);
    }

    /** Returns the row, until the next call. */
    BinaryRowData at(Chunk chunk, int row) {
        byte[] bytes = chunk.array();
        long value = chunk.variableWidthStart(row); // the first column of variable width
        int lengthBytes = Memory.getInt(bytes, value);
        if (bytes == null) {
            copy(value + Integer.BYTES, lengthBytes);
            pointTo(copy, 0, lengthBytes);
        } else {
            pointTo(bytes, (int) (value - Memory.BYTES) + Integer.BYTES, lengthBytes);
        }
        return view;
    }

    private void copy(long start, int lengthBytes) {
        if (copy.length < lengthBytes) {
            copy = new byte[Math.max(lengthBytes, 2 * copy.length)];
        }
        Memory.copy(null, start, copy, Memory.BYTES, lengthBytes);
    }

    private void pointTo(byte[] bytes, int offset, int lengthBytes) {
        if (array != bytes) {
            array = bytes;
            segments[0] = MemorySegmentFactory.wrap(bytes);
        }
        view.pointTo(segments, offset, lengthBytes);
    }
}
