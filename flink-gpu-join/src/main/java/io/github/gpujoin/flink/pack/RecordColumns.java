// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.FieldBits;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RecordShape;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * Writes many records at once, column by column, where every column is a primitive field of a POJO
 * or the timestamp: one loop for each column, in which all is in locals, as raw stores keep the
 * compiler from holding fields in registers. The records are of the layout's class, as {@link
 * RecordEncoder#checkClasses} sees to. Immutable.
 */
final class RecordColumns {

    /** How the values of a column are read. */
    private enum Reading {
        EIGHT_BYTES,
        FOUR_BYTES,
        TWO_BYTES,
        ONE_BYTE,
        /** Characters and truth values, which are widened to 4 bytes. */
        WIDENED,
        TIMESTAMP
    }

    private record Source(int column, Reading reading, FieldKind kind, long offset) {}

    private final Source[] sources;

    private RecordColumns(List<Source> sources) {
        this.sources = sources.toArray(Source[]::new);
    }

    /** Empty where a column has variable width or is not read from a field's place. */
    static Optional<RecordColumns> of(RecordLayout<?> layout) {
        if (!layout.keys().isEmpty() || layout.hasChanges()) {
            return Optional.empty();
        }
        RecordShape<?> shape = RecordShape.of(layout.type());
        List<Source> sources = new ArrayList<>();
        for (RecordField field : layout.fields()) {
            boolean isTimestamp = field.name().equals(RecordLayout.TIMESTAMP);
            boolean isPlaced = !isTimestamp && shape.isPrimitive(field.name());
            long offset = isPlaced ? shape.offsetOf(field.name()) : -1;
            if (!isTimestamp && offset < 0) {
                return Optional.empty();
            }
            Reading reading = isTimestamp ? Reading.TIMESTAMP : readingOf(field.kind());
            sources.add(new Source(sources.size(), reading, field.kind(), offset));
        }
        return Optional.of(new RecordColumns(sources));
    }

    private static Reading readingOf(FieldKind kind) {
        return switch (kind) {
            case LONG, DOUBLE -> Reading.EIGHT_BYTES;
            case INT, FLOAT -> Reading.FOUR_BYTES;
            case SHORT -> Reading.TWO_BYTES;
            case BYTE -> Reading.ONE_BYTE;
            default -> Reading.WIDENED;
        };
    }

    /** Reads a key column of the first {@code count} records. */
    void readKeys(Object[] records, int count, int keyColumn, long[] keys) {
        Source key = sources[keyColumn];
        long offset = key.offset;
        boolean isWide = key.reading == Reading.EIGHT_BYTES;
        for (int i = 0; i < count; i++) {
            Object record = records[i];
            keys[i] =
                    isWide
                            ? Memory.getLong(record, offset)
                            : FieldBits.narrowed(record, key.kind, offset);
        }
    }

    /** Sorts the numbers of some records by the group of a key column. */
    void sort(Object[] records, int[] order, int count, int keyColumn, RowPartitioner partitioner) {
        partitioner.begin(count);
        int[] groupOf = partitioner.groupOf();
        int[] counts = partitioner.counts();
        int partitions = partitioner.groups().partitions();
        int[] table = partitioner.groups().table();
        Source key = sources[keyColumn];
        long offset = key.offset;
        boolean isWide = key.reading == Reading.EIGHT_BYTES;
        for (int i = 0; i < count; i++) {
            Object record = records[order[i]];
            long value =
                    isWide
                            ? Memory.getLong(record, offset)
                            : FieldBits.narrowed(record, key.kind, offset);
            int partition = RowPartitioner.of(value, partitions);
            int group = table == null ? partition : table[partition];
            groupOf[i] = group;
            counts[group + 1]++;
        }
        partitioner.sort(order, count);
    }

    /**
     * Writes the records {@code order[from]} to {@code order[end - 1]} after the rows of a builder
     * that has room for them.
     */
    void append(
            Object[] records,
            long[] timestamps,
            int[] order,
            int from,
            int end,
            ChunkBuilder builder) {
        byte[] array = Objects.requireNonNull(builder.array());
        int row = builder.rowCount() - from;
        for (Source source : sources) {
            long start = Memory.BYTES + builder.columnOffset(source.column);
            switch (source.reading) {
                case EIGHT_BYTES ->
                        append8(records, source.offset, order, from, end, array, start + 8L * row);
                case FOUR_BYTES ->
                        append4(records, source.offset, order, from, end, array, start + 4L * row);
                case TWO_BYTES ->
                        append2(records, source.offset, order, from, end, array, start + 2L * row);
                case ONE_BYTE ->
                        append1(records, source.offset, order, from, end, array, start + row);
                case WIDENED ->
                        appendWidened(records, source, order, from, end, array, start + 4L * row);
                case TIMESTAMP ->
                        appendLongs(timestamps, order, from, end, array, start + 8L * row);
            }
        }
        builder.advance(end - from);
    }

    private static void append8(
            Object[] records,
            long offset,
            int[] order,
            int from,
            int end,
            byte[] array,
            long start) {
        for (int i = from; i < end; i++) {
            long value = Memory.getLong(records[order[i]], offset);
            Memory.putLong(array, start + 8L * i, value);
        }
    }

    private static void append4(
            Object[] records,
            long offset,
            int[] order,
            int from,
            int end,
            byte[] array,
            long start) {
        for (int i = from; i < end; i++) {
            int value = Memory.getInt(records[order[i]], offset);
            Memory.putInt(array, start + 4L * i, value);
        }
    }

    private static void append2(
            Object[] records,
            long offset,
            int[] order,
            int from,
            int end,
            byte[] array,
            long start) {
        for (int i = from; i < end; i++) {
            short value = Memory.getShort(records[order[i]], offset);
            Memory.putShort(array, start + 2L * i, value);
        }
    }

    private static void append1(
            Object[] records,
            long offset,
            int[] order,
            int from,
            int end,
            byte[] array,
            long start) {
        for (int i = from; i < end; i++) {
            byte value = Memory.getByte(records[order[i]], offset);
            Memory.putByte(array, start + i, value);
        }
    }

    private static void appendWidened(
            Object[] records,
            Source source,
            int[] order,
            int from,
            int end,
            byte[] array,
            long start) {
        for (int i = from; i < end; i++) {
            int value = FieldBits.narrowed(records[order[i]], source.kind, source.offset);
            Memory.putInt(array, start + 4L * i, value);
        }
    }

    private static void appendLongs(
            long[] values, int[] order, int from, int end, byte[] array, long start) {
        for (int i = from; i < end; i++) {
            Memory.putLong(array, start + 8L * i, values[order[i]]);
        }
    }
}
