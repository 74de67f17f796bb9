// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.flink.record.KeyLayout.Nulls;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.LogicalType;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;
import org.jspecify.annotations.Nullable;

/**
 * Some columns of internal rows as one 64-bit integer. If that is a hash, equal keys also have
 * equal bytes. Immutable.
 */
public final class RowKey implements Serializable {

    private static final long serialVersionUID = 1L;

    private final RowType type;
    private final int firstColumn;

    /** Null if the key is one integer column, whose values are the integers. */
    private final @Nullable SelectedKey<RowData, Row> selected;

    private RowKey(RowType type, int firstColumn, @Nullable SelectedKey<RowData, Row> selected) {
        this.type = type;
        this.firstColumn = firstColumn;
        this.selected = selected;
    }

    /** Whether a column of this type can be in a key. */
    public static boolean supports(LogicalType type) {
        return KeyPart.of(RowDataFields.typeOf(type)).isPresent();
    }

    /**
     * Creates a key.
     *
     * @param columns indexes of the columns
     * @param filterNulls for each column whether a null in it matches nothing; else it equals a
     *     null
     * @throws IllegalArgumentException if a column is of a type that cannot be in a key
     */
    public static RowKey of(RowType type, List<Integer> columns, List<Boolean> filterNulls) {
        for (int column : columns) {
            if (!supports(type.getTypeAt(column))) {
                throw new IllegalArgumentException(
                        "Unsupported type of a key: column=%s, type=%s. Use numbers, booleans, text, bytes, dates, times, timestamps or decimals."
                                .formatted(
                                        type.getFieldNames().get(column), type.getTypeAt(column)));
            }
        }
        int first = columns.get(0);
        boolean hasNulls = type.getTypeAt(first).isNullable() && !filterNulls.get(0);
        if (columns.size() == 1 && isInteger(type.getTypeAt(first)) && !hasNulls) {
            return new RowKey(type, first, null);
        }
        return new RowKey(type, first, selected(type, columns, filterNulls));
    }

    private static SelectedKey<RowData, Row> selected(
            RowType type, List<Integer> columns, List<Boolean> filterNulls) {
        ColumnsKey<RowData> key =
                new ColumnsKey<>(
                        InternalTypeInfo.of(type),
                        columns.stream().map(type.getFieldNames()::get).toList());
        List<Nulls> nulls =
                filterNulls.stream()
                        .map(filters -> filters ? Nulls.MATCH_NOTHING : Nulls.MATCH_NULLS)
                        .toList();
        KeyLayout<Row> layout = KeyLayout.of(key.keyType(), Nulls.MATCH_NOTHING).withNulls(nulls);
        return new SelectedKey<>(key, layout);
    }

    private static boolean isInteger(LogicalType type) {
        return switch (type.getTypeRoot()) {
            case TINYINT, SMALLINT, INTEGER, BIGINT -> true;
            default -> false;
        };
    }

    /** Whether equal integers mean equal keys, so that keys have no bytes. */
    public boolean isExact() {
        return selected == null || selected.layout().isExact();
    }

    /** Returns a text that is equal for keys which map equal values to equal integers. */
    public String encodingText() {
        return selected == null ? "integer" : selected.layout().encodingText();
    }

    /**
     * Returns this key with each integer as wide as the wider one of both keys.
     *
     * @throws IllegalArgumentException if the keys cannot be compared
     */
    public RowKey alignedWith(RowKey other) {
        if (selected == null && other.selected == null) {
            return this;
        }
        SelectedKey<RowData, Row> mine = withNulls();
        SelectedKey<RowData, Row> others = other.withNulls();
        if (!mine.layout().isComparableTo(others.layout())) {
            throw new IllegalArgumentException(
                    "Key types differ: %s and %s. Cast one side.".formatted(this, other));
        }
        return new RowKey(type, firstColumn, mine.alignedWith(others));
    }

    /** Returns the key as that of the other input, whose column may be null and match a null. */
    private SelectedKey<RowData, Row> withNulls() {
        return selected == null ? selected(type, List.of(firstColumn), List.of(false)) : selected;
    }

    /** Returns a reader for one thread. */
    Reader reader() {
        return selected == null
                ? new IntegerColumn(firstColumn, type.getTypeAt(firstColumn))
                : new Selected(selected.reader());
    }

    @Override
    public String toString() {
        return selected == null
                ? "%s %s"
                        .formatted(
                                type.getFieldNames().get(firstColumn), type.getTypeAt(firstColumn))
                : ((ColumnsKey<RowData>) selected.selector()).description();
    }

    /** Reads keys of rows, one after the other. Not thread-safe. */
    interface Reader {

        /** Reads a key, and returns whether it can match: false if a null in it matches nothing. */
        boolean read(RowData row) throws Exception;

        /** Returns the integer of the key that was read last, which can match. */
        long integer();

        /** Returns the bytes of the key that was read last, if the key is not exact. */
        KeyBytes bytes();
    }

    private static final class IntegerColumn implements Reader {

        private final int column;
        private final FieldKind kind;
        private long integer;

        IntegerColumn(int column, LogicalType type) {
            this.column = column;
            this.kind = FieldKind.of(RowDataFields.typeOf(type));
        }

        @Override
        public boolean read(RowData row) {
            if (row.isNullAt(column)) {
                return false;
            }
            integer = RowDataFields.bits(row, column, kind);
            return true;
        }

        @Override
        public long integer() {
            return integer;
        }

        @Override
        public KeyBytes bytes() {
            throw new IllegalStateException("Key is exact and has no bytes: column=" + column);
        }
    }

    private record Selected(SelectedKey.Reader<RowData, Row> key) implements Reader {

        @Override
        public boolean read(RowData row) throws Exception {
            return key.read(row);
        }

        @Override
        public long integer() {
            return key.integer();
        }

        @Override
        public KeyBytes bytes() {
            return key.canonicalOfEncoded();
        }
    }
}
