// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.BatchKeys;
import io.github.gpujoin.flink.record.BatchValues;
import io.github.gpujoin.flink.record.FieldBits;
import io.github.gpujoin.flink.record.FieldKind;
import io.github.gpujoin.flink.record.KeyColumn;
import io.github.gpujoin.flink.record.RecordEncoder;
import io.github.gpujoin.flink.record.RecordField;
import io.github.gpujoin.flink.record.RecordLayout;
import io.github.gpujoin.flink.record.RecordShape;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Writes many records at once: fixed-width columns one by one, in a loop each in which all is in
 * locals, as raw stores keep the compiler from holding fields in registers. The records are of the
 * layout's class, as {@link RecordEncoder#checkClasses} ensures. Not thread-safe.
 */
final class RecordColumns<T> {

    /** How the values of a column are read. */
    private enum Reading {
        EIGHT_BYTES,
        FOUR_BYTES,
        TWO_BYTES,
        ONE_BYTE,
        /** Characters and truth values, which are widened to 4 bytes. */
        WIDENED,
        TIMESTAMP,
        /** Integers of a computed key. */
        KEY,
        /** Unique numbers of records. */
        ROW
    }

    /**
     * @param place offset of a field, or number of a computed key
     */
    private record Source(int column, Reading reading, FieldKind kind, long place) {}

    private final Source[] sources;
    private final BatchKeys<T> keys;
    private final @Nullable BatchValues<T> values;
    private final boolean hasKeys;

    private RecordColumns(List<Source> sources, RecordLayout<T> layout, BatchKeys<T> keys) {
        this.sources = sources.toArray(Source[]::new);
        this.keys = keys;
        this.values = layout.schema().hasVariableWidth() ? layout.batchValues(keys) : null;
        this.hasKeys = !layout.keys().isEmpty();
    }

    /**
     * Returns the columns of a layout, or empty if its records must be written one by one: changes,
     * records with null keys that are kept, and key fields that are objects.
     *
     * @param capacity records of a batch
     */
    static <T> Optional<RecordColumns<T>> of(RecordLayout<T> layout, int capacity) {
        boolean isWhole = layout.schema().indexOf(RecordLayout.RECORD) >= 0;
        if (layout.hasChanges() || !layout.nullKeyBits().isEmpty()) {
            return Optional.empty();
        }
        BatchKeys<T> keys = layout.batchKeys(capacity);
        RecordShape<T> shape = isWhole ? null : RecordShape.of(layout.type());
        List<Source> sources = new ArrayList<>();
        for (int column = 0; column < layout.schema().size(); column++) {
            if (!layout.schema().column(column).isFixed()) {
                continue;
            }
            Source source = source(column, layout.fields().get(column), keys, shape);
            if (source == null) {
                return Optional.empty();
            }
            sources.add(source);
        }
        return Optional.of(new RecordColumns<>(sources, layout, keys));
    }

    private static <T> @Nullable Source source(
            int column, RecordField field, BatchKeys<T> keys, @Nullable RecordShape<T> shape) {
        String name = field.name();
        int key = keys.indexOfInteger(name);
        if (key >= 0) {
            return new Source(column, Reading.KEY, field.kind(), key);
        }
        if (name.equals(KeyColumn.ROW_NAME)) {
            return new Source(column, Reading.ROW, field.kind(), 0);
        }
        if (name.equals(RecordLayout.TIMESTAMP)) {
            return new Source(column, Reading.TIMESTAMP, field.kind(), 0);
        }
        boolean isPlaced = shape != null && shape.isPrimitive(name) && shape.offsetOf(name) >= 0;
        return isPlaced
                ? new Source(column, readingOf(field.kind()), field.kind(), shape.offsetOf(name))
                : null;
    }

    /** Whether writing a record calls no code of a user and cannot fail. */
    boolean isPrimitive() {
        return !hasKeys && values == null;
    }

    /**
     * Computes the keys of the first {@code count} records.
     *
     * @param rows receives the numbers of the records whose keys can match
     * @return number of these
     */
    int computeKeys(T[] records, int count, int[] rows) throws Exception {
        return keys.read(records, count, rows);
    }

    boolean hasComputedKeys() {
        return hasKeys;
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

    /**
     * Returns the values of a key column of the first {@code count} records.
     *
     * @param into receives them, unless they are computed
     */
    long[] readKeys(T[] records, int count, int keyColumn, long[] into) {
        Source key = Objects.requireNonNull(sourceOf(keyColumn));
        if (key.reading == Reading.KEY) {
            return keys.integers((int) key.place);
        }
        long offset = key.place;
        boolean isWide = key.reading == Reading.EIGHT_BYTES;
        for (int i = 0; i < count; i++) {
            T record = records[i];
            into[i] =
                    isWide
                            ? Memory.getLong(record, offset)
                            : FieldBits.narrowed(record, key.kind, offset);
        }
        return into;
    }

    private @Nullable Source sourceOf(int column) {
        for (Source source : sources) {
            if (source.column == column) {
                return source;
            }
        }
        return null;
    }

    /**
     * Writes records {@code order[from]} to {@code order[end - 1]} after the rows of a builder,
     * until it is full.
     *
     * @param end at most as many rows behind {@code from} as the builder has room for
     * @return the end of the records that were written
     */
    int append(T[] records, long[] timestamps, int[] order, int from, int end, ChunkBuilder builder)
            throws IOException {
        byte[] array = Objects.requireNonNull(builder.array());
        int row = builder.rowCount() - from;
        int to = end;
        if (values == null) {
            builder.advance(end - from);
        } else {
            to = values.append(records, order, from, end, builder);
        }
        for (Source source : sources) {
            long start = Memory.BYTES + builder.columnOffset(source.column);
            long place = source.place;
            switch (source.reading) {
                case EIGHT_BYTES ->
                        append8(records, place, order, from, to, array, start + 8L * row);
                case FOUR_BYTES ->
                        append4(records, place, order, from, to, array, start + 4L * row);
                case TWO_BYTES -> append2(records, place, order, from, to, array, start + 2L * row);
                case ONE_BYTE -> append1(records, place, order, from, to, array, start + row);
                case WIDENED ->
                        appendWidened(records, source, order, from, to, array, start + 4L * row);
                case TIMESTAMP -> appendLongs(timestamps, order, from, to, array, start + 8L * row);
                case KEY -> appendKeys(source, order, from, to, builder, row);
                case ROW -> appendRows(keys.firstRow(), order, from, to, array, start + 8L * row);
            }
        }
        return to;
    }

    /** A key of one integer has that integer's width, others have 8 bytes. */
    private void appendKeys(
            Source source, int[] order, int from, int end, ChunkBuilder builder, int row) {
        int widthBytes = source.kind.columnType().widthBytes();
        long start = Memory.BYTES + builder.columnOffset(source.column) + (long) widthBytes * row;
        long[] integers = keys.integers((int) source.place);
        if (widthBytes == Long.BYTES) {
            appendLongs(integers, order, from, end, builder.array(), start);
            return;
        }
        for (int i = from; i < end; i++) {
            long at = start + (long) widthBytes * i;
            Memory.putInteger(builder.array(), at, widthBytes, integers[order[i]]);
        }
    }

    private static void appendRows(
            long first, int[] order, int from, int end, byte[] array, long start) {
        for (int i = from; i < end; i++) {
            Memory.putLong(array, start + 8L * i, first + order[i]);
        }
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
            int value = FieldBits.narrowed(records[order[i]], source.kind, source.place);
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
