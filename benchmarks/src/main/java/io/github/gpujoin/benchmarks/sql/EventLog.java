// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.sql;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;

/**
 * The events of one source subtask, in order: rows of several tables in Flink's binary format, off
 * the heap. Not thread-safe while rows are added; afterwards read by any number of threads.
 *
 * <pre>
 *   | row size: 4 bytes | table: 2 bytes | fields: 2 bytes | row: a multiple of 8 bytes | ...
 * </pre>
 *
 * A row does not span segments. A row size of 0 ends a segment.
 */
public final class EventLog {

    /** Holds the largest rows of all benchmarks many times. */
    private static final int SEGMENT_BYTES = 8 << 20;

    private static final int TABLE_AT = 4;
    private static final int FIELDS_AT = 6;
    private static final int HEADER_BYTES = 8;

    private final List<MemorySegment> segments = new ArrayList<>();
    private int endOffset = SEGMENT_BYTES;
    private long rowCount;

    /**
     * Copies a row.
     *
     * @param table number of the row's table, at least 0
     * @throws IllegalArgumentException if the row exceeds 8 MiB
     */
    public void add(int table, BinaryRowData row) {
        int sizeBytes = row.getSizeInBytes();
        if (sizeBytes > SEGMENT_BYTES - HEADER_BYTES) {
            throw new IllegalArgumentException(
                    "Row exceeds a segment: table=%d, bytes=%d, most=%d"
                            .formatted(table, sizeBytes, SEGMENT_BYTES - HEADER_BYTES));
        }
        if (sizeBytes > SEGMENT_BYTES - endOffset - HEADER_BYTES) {
            segments.add(MemorySegmentFactory.allocateUnpooledOffHeapMemory(SEGMENT_BYTES));
            endOffset = 0;
        }
        MemorySegment last = segments.get(segments.size() - 1);
        last.putInt(endOffset, sizeBytes);
        last.putShort(endOffset + TABLE_AT, (short) table);
        last.putShort(endOffset + FIELDS_AT, (short) row.getArity());
        row.getSegments()[0].copyTo(row.getOffset(), last, endOffset + HEADER_BYTES, sizeBytes);
        endOffset += HEADER_BYTES + sizeBytes;
        rowCount++;
    }

    /** Returns the number of rows. */
    public long rowCount() {
        return rowCount;
    }

    /** Returns a reader of all rows that were added so far. */
    Cursor cursor() {
        return new Cursor();
    }

    /** Reads rows in the order in which they were added. */
    final class Cursor {

        private int segment;
        private int offset;
        private long remaining = rowCount;
        private int table;

        /** Returns whether there is another row. */
        boolean hasNext() {
            return remaining > 0;
        }

        /** Returns the next row, which refers to the memory of the log. Requires one. */
        BinaryRowData next() {
            MemorySegment current = segments.get(segment);
            if (offset > SEGMENT_BYTES - HEADER_BYTES || current.getInt(offset) == 0) {
                current = segments.get(++segment);
                offset = 0;
            }
            int sizeBytes = current.getInt(offset);
            table = current.getShort(offset + TABLE_AT);
            BinaryRowData row = new BinaryRowData(current.getShort(offset + FIELDS_AT));
            row.pointTo(current, offset + HEADER_BYTES, sizeBytes);
            offset += HEADER_BYTES + sizeBytes;
            remaining--;
            return row;
        }

        /** Returns the number of the table of the row that was read last. */
        int table() {
            return table;
        }
    }
}
