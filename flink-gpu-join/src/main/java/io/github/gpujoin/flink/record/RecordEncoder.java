// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.engine.RowChange;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.types.RowKind;
import org.jspecify.annotations.Nullable;

/**
 * Writes records as rows of chunks, column by column, at once: nothing of the record is kept.
 *
 * <p>For each record: {@link #accept}, then {@link #key} where the row is partitioned, then {@link
 * #encode}. Primitive fields of POJOs are copied as raw bits from the object to the column array;
 * the column groups are split by width once, so that these loops have no branch on a type. Not
 * thread-safe.
 */
public final class RecordEncoder<T> {

    /** Columns whose values are copied from an offset in the record. */
    private record RawColumns(int[] columns, long[] offsets) {
        static RawColumns of(List<ColumnSlot<?>> slots) {
            return new RawColumns(
                    slots.stream().mapToInt(ColumnSlot::column).toArray(),
                    slots.stream().mapToLong(ColumnSlot::offset).toArray());
        }
    }

    /** A builder to write to, with its columns' places at hand. Made once for each builder. */
    public static final class Target {
        private final ChunkBuilder builder;
        private final long[] starts8;
        private final long[] starts4;
        private final boolean carries;

        private Target(ChunkBuilder builder, RawColumns raw8, RawColumns raw4) {
            this.builder = builder;
            this.starts8 = starts(builder, raw8);
            this.starts4 = starts(builder, raw4);
            this.carries = builder.schema().hasVariableWidth();
        }

        /** Whether the builder must be sealed; without variable-width bytes, rows alone fill it. */
        public boolean isFull() {
            int rows = builder.rowCount();
            return rows == builder.capacityRows() || (carries && builder.isFull());
        }

        /** Whether the last row that was written is the first. */
        public boolean hasOneRow() {
            return builder.rowCount() == 1;
        }

        /** Forgets a row that could not be encoded to its end. */
        public void discardRow() {
            builder.discardRow();
        }

        private static long[] starts(ChunkBuilder builder, RawColumns raw) {
            return Arrays.stream(raw.columns)
                    .mapToLong(column -> Memory.BYTES + builder.columnOffset(column))
                    .toArray();
        }
    }

    private final Class<T> type;
    private final ChunkSchema schema;
    private final boolean exactType;
    private final ComputedKeys<T> keys;
    private final int timestampColumn;
    private final RawColumns raw8;
    private final RawColumns raw4;
    private final ColumnSlot<T>[] narrow;
    private final ColumnSlot<T>[] integers;

    /** Bits of each of {@link #integers}, 0 where a null drops the row. */
    private final int[] nullKeyBits;

    private final ColumnWriter<T>[] values;

    private final int nullKeysColumn;
    private final int numberColumn;
    private final int changeColumn;

    /** Null where records are changes, or do not say what they are. */
    private final @Nullable RecordShape<T> inserted;

    private final ColumnSlot<T>[] byColumn;
    private final long[] offsets8;
    private final long[] offsets4;
    private final boolean rawOnly;
    private int nullKeys;
    private RowChange change = RowChange.UPSERT;

    /** Key in place of a null, another for each row: partitions get equal shares of them. */
    private int standInKey;

    @SuppressWarnings("unchecked")
    RecordEncoder(RecordLayout<T> layout) {
        this.type = layout.type().getTypeClass();
        this.schema = layout.schema();
        this.exactType = layout.isWhole() && layout.schema().indexOf(RecordLayout.RECORD) < 0;
        this.keys = new ComputedKeys<>(layout.keys());
        this.timestampColumn = layout.schema().indexOf(RecordLayout.TIMESTAMP);
        this.nullKeysColumn = layout.schema().indexOf(RecordLayout.NULL_KEYS);
        this.numberColumn = layout.schema().indexOf(RecordLayout.NUMBER);
        this.changeColumn = layout.schema().indexOf(RecordLayout.CHANGE);
        this.inserted =
                RecordKind.of(layout.type()).hasRowKind() && changeColumn < 0
                        ? RecordShape.of(layout.type())
                        : null;
        this.byColumn = array(ColumnSlot.of(layout, keys));
        List<ColumnSlot<?>> eight = new ArrayList<>();
        List<ColumnSlot<?>> four = new ArrayList<>();
        List<ColumnSlot<T>> narrower = new ArrayList<>();
        List<ColumnSlot<T>> nullable = new ArrayList<>();
        List<ColumnWriter<T>> others = new ArrayList<>();
        for (ColumnSlot<T> slot : byColumn) {
            if (slot == null) {
                continue;
            }
            if (slot.integer() != null) {
                nullable.add(slot);
            } else if (slot.writer() != null) {
                others.add(slot.writer());
            } else {
                switch (slot.field().kind()) {
                    case LONG, DOUBLE -> eight.add(slot);
                    case INT, FLOAT -> four.add(slot);
                    default -> narrower.add(slot);
                }
            }
        }
        this.raw8 = RawColumns.of(eight);
        this.raw4 = RawColumns.of(four);
        this.offsets8 = raw8.offsets;
        this.offsets4 = raw4.offsets;
        this.rawOnly =
                narrower.isEmpty()
                        && nullable.isEmpty()
                        && others.isEmpty()
                        && timestampColumn < 0
                        && nullKeysColumn < 0
                        && numberColumn < 0
                        && changeColumn < 0;
        this.narrow = array(narrower);
        this.values = others.toArray(ColumnWriter[]::new);
        this.integers = array(nullable);
        this.nullKeyBits =
                nullable.stream()
                        .mapToInt(key -> layout.nullKeyBits().getOrDefault(key.field().name(), 0))
                        .toArray();
    }

    @SuppressWarnings("unchecked")
    private static <T> ColumnSlot<T>[] array(List<ColumnSlot<T>> slots) {
        return slots.toArray(ColumnSlot[]::new);
    }

    /**
     * Looks at the record's keys.
     *
     * @return false where one is null, so that the row matches nothing and is not kept
     * @throws IllegalArgumentException where the record is not of the layout's class, or is of a
     *     subclass whose own fields would be lost
     */
    public boolean accept(T record) throws Exception {
        check(record);
        keys.read(record);
        int nulls = 0;
        for (int i = 0; i < integers.length; i++) {
            if (integers[i].integer().isNull(record)) {
                if (nullKeyBits[i] == 0) {
                    return false;
                }
                nulls |= nullKeyBits[i];
            }
        }
        nullKeys = nulls;
        standInKey += nulls == 0 ? 0 : 1;
        return true;
    }

    private void check(T record) {
        if (record == null || record.getClass() != type) {
            checkClass(record);
        }
        if (inserted != null) {
            checkInserted(inserted.kindOf(record));
        }
    }

    private void checkInserted(RowKind kind) {
        if (kind != RowKind.INSERT) {
            throw new IllegalArgumentException(
                    "Update or deletion in a stream without a changelog: kind=%s, type=%s.\nAdd .changelog() to the dimension, or filter the stream."
                            .formatted(kind, type.getName()));
        }
    }

    /** Field offsets are meaningless in another class. */
    private void checkClass(Object record) {
        if (record == null || exactType || !type.isInstance(record)) {
            throw new IllegalArgumentException(
                    "Record of another class than its stream: class=%s, expected=%s.\nFilter or convert it before the join."
                            .formatted(
                                    record == null ? null : record.getClass().getName(),
                                    type.getName()));
        }
    }

    /** Says what the next rows do to those of their keys. */
    public void change(RowChange change) {
        this.change = change;
    }

    /** Value of a key column of the record that was accepted last. */
    public long key(T record, int column) {
        ColumnSlot<T> slot = byColumn[column];
        if (!slot.isRaw()) {
            return integer(slot, record);
        }
        return slot.field().kind() == FieldKind.LONG
                ? Memory.getLong(record, slot.offset())
                : FieldBits.narrowed(record, slot.field().kind(), slot.offset());
    }

    /**
     * Makes a builder ready to be written to.
     *
     * @throws IllegalArgumentException where its schema is not the layout's
     */
    public Target target(ChunkBuilder builder) {
        if (!builder.schema().equals(schema)) {
            throw new IllegalArgumentException(
                    "The builder has another schema than the records: expected="
                            + schema
                            + ", schema="
                            + builder.schema());
        }
        return new Target(builder, raw8, raw4);
    }

    /**
     * Adds the record that was accepted last as a row.
     *
     * @param timestamp event time in ms, {@link Long#MIN_VALUE} for none
     * @param target whose builder is not full
     */
    public void encode(T record, long timestamp, Target target) throws IOException {
        ChunkBuilder builder = target.builder;
        int row = builder.rowCount();
        if (row == builder.capacityRows()) {
            throw new IllegalStateException(
                    "The chunk is full and not sealed: capacityRows=" + builder.capacityRows());
        }
        // Fields are held in locals, as raw stores keep the compiler from doing so.
        byte[] array = builder.array();
        long[] to8 = target.starts8;
        long[] from8 = offsets8;
        for (int i = 0; i < to8.length; i++) {
            Memory.putLong(array, to8[i] + 8L * row, Memory.getLong(record, from8[i]));
        }
        long[] to4 = target.starts4;
        long[] from4 = offsets4;
        for (int i = 0; i < to4.length; i++) {
            Memory.putInt(array, to4[i] + 4L * row, Memory.getInt(record, from4[i]));
        }
        if (!rawOnly) {
            encodeOthers(record, timestamp, builder);
        }
        builder.endRow();
    }

    private void encodeOthers(T record, long timestamp, ChunkBuilder builder) throws IOException {
        for (ColumnSlot<T> slot : narrow) {
            int value = FieldBits.narrowed(record, slot.field().kind(), slot.offset());
            builder.putInteger(slot.column(), value);
        }
        if (timestampColumn >= 0) {
            builder.putLong(timestampColumn, timestamp);
        }
        if (nullKeysColumn >= 0) {
            builder.putInt(nullKeysColumn, nullKeys);
        }
        if (numberColumn >= 0) {
            builder.putLong(numberColumn, nullKeys == 0 ? 0 : -1);
        }
        if (changeColumn >= 0) {
            builder.putInt(changeColumn, change.code());
        }
        for (ColumnSlot<T> slot : integers) {
            builder.putInteger(slot.column(), integer(slot, record));
        }
        for (ColumnWriter<T> value : values) {
            value.write(record, builder);
        }
    }

    /** The receiver derives the partition from the stored, narrowed key. */
    private long integer(ColumnSlot<T> slot, T record) {
        IntegerReader<T> reader = slot.integer();
        if (reader.isNull(record)) {
            Object standIn = slot.field().kind().ofInteger(standInKey);
            return ((Number) standIn).longValue();
        }
        return reader.read(record);
    }
}
