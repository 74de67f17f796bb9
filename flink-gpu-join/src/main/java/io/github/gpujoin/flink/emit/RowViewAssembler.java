// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.RowDataFields;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.core.memory.MemorySegment;
import org.apache.flink.core.memory.MemorySegmentFactory;
import org.apache.flink.table.data.binary.BinaryRowData;
import org.jspecify.annotations.Nullable;

/**
 * Points one row to each serialized row in its column: in place on the heap, else to a copy. The
 * column has two lengths, its own and that of Flink's serializer, then the binary row:
 *
 * <pre>
 *   length, 4 bytes | length of the row, 4 bytes, big-endian | row
 * </pre>
 */
final class RowViewAssembler<T> implements RecordAssembler<T> {

    private static final int SERIALIZER_LENGTH_BYTES = Integer.BYTES;

    private final FieldReader reader;
    private final BinaryRowData view;
    private final MemorySegment[] segments = new MemorySegment[1];

    /** The array of the segment. */
    private byte @Nullable [] array;

    private byte[] scratch = new byte[0];

    RowViewAssembler(FieldReader reader, TypeInformation<T> type) {
        this.reader = reader;
        this.view = new BinaryRowData(RowDataFields.rowType(type).getFieldCount());
    }

    @Override
    public boolean reusesRecord() {
        return true;
    }

    @Override
    public void bind(ResultBatch batch) {
        reader.bind(batch);
    }

    @Override
    public void load(int fromRow, int toRow) {
        reader.load(fromRow, toRow);
    }

    @Override
    @SuppressWarnings("unchecked")
    public T assemble(int row, int probeRow) {
        byte[] base = reader.base();
        long column = reader.locate(row, probeRow);
        int lengthBytes = Memory.getInt(base, column) - SERIALIZER_LENGTH_BYTES;
        long at = column + Integer.BYTES + SERIALIZER_LENGTH_BYTES;
        if (base != null) {
            point(base, (int) (at - Memory.BYTES), lengthBytes);
        } else {
            if (scratch.length < lengthBytes
                    || BinaryRowBuilder.isOversized(scratch.length, lengthBytes)) {
                scratch = new byte[BinaryRowBuilder.capacityFor(lengthBytes)];
            }
            Memory.copy(null, at, scratch, Memory.BYTES, lengthBytes);
            point(scratch, 0, lengthBytes);
        }
        return (T) view;
    }

    private void point(byte[] to, int offset, int lengthBytes) {
        if (array != to) {
            array = to;
            segments[0] = MemorySegmentFactory.wrap(to);
        }
        view.pointTo(segments, offset, lengthBytes);
    }
}
