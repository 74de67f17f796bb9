// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.util.List;
import java.util.Map;
import java.util.function.ToLongFunction;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeinfo.Types;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.types.RowKind;

/**
 * The fields of a record type, and ways to read them; a class for each kind of record. Types and
 * values of fields are those of Flink's DataStream API, whatever a record holds them as. Not
 * serializable: made where it is used.
 */
public abstract class RecordShape<T> {

    /** Reads one field of a record as an object of the field's type. */
    @FunctionalInterface
    public interface Getter<T> {
        Object get(T record);
    }

    private static final Map<Class<?>, TypeInformation<?>> LOCAL_TIMES =
            Map.of(
                    LocalDate.class, Types.LOCAL_DATE,
                    LocalTime.class, Types.LOCAL_TIME,
                    LocalDateTime.class, Types.LOCAL_DATE_TIME);

    private final TypeInformation<T> type;
    private final List<String> names;

    RecordShape(TypeInformation<T> type, List<String> names) {
        this.type = type;
        this.names = List.copyOf(names);
    }

    /** Whether values of the type have fields that can be read. */
    public static boolean isRecord(TypeInformation<?> type) {
        return RecordKind.of(type) != RecordKind.OTHER;
    }

    /**
     * @throws IllegalArgumentException where the type has no named fields
     */
    public static <T> RecordShape<T> of(TypeInformation<T> type) {
        return switch (RecordKind.of(type)) {
            case POJO -> new PojoShape<>((PojoTypeInfo<T>) type);
            case ROW -> new RowShape<>(type);
            case TUPLE -> new TupleShape<>(type);
            case ROW_DATA -> new RowDataShape<>(type);
            case AVRO -> new AvroShape<>(type);
            case OTHER ->
                    throw new IllegalArgumentException(
                            "Unsupported record type: %s.\nUse a POJO, Row, tuple, RowData or Avro record."
                                    .formatted(type));
        };
    }

    public final List<String> names() {
        return names;
    }

    /**
     * @throws IllegalArgumentException where there is no such field, or no column can hold it
     */
    public final TypeInformation<?> typeOf(String name) {
        TypeInformation<?> type = typeAt(indexOf(name), name);
        // Flink takes dates and times in classes for types it does not know, though it has them.
        TypeInformation<?> known = LOCAL_TIMES.get(type.getTypeClass());
        return known == null ? type : known;
    }

    abstract TypeInformation<?> typeAt(int index, String name);

    /** Whether records are Rows or RowData whose fields have names. */
    public static boolean isNamedRow(TypeInformation<?> type) {
        return switch (RecordKind.of(type)) {
            case ROW -> true;
            case ROW_DATA -> RowDataFields.hasRowType(type);
            default -> false;
        };
    }

    /** The type of a field in full, as text: of RowData the logical type. */
    public final String describe(String name) {
        return describeAt(indexOf(name), name);
    }

    String describeAt(int index, String name) {
        return typeAt(index, name).toString();
    }

    /**
     * A Row or RowData of this shape.
     *
     * @param record whose fields of interest have the types of this shape's
     * @param positions in {@code record} of each field of this shape
     */
    public T reordered(T record, int[] positions) {
        throw new UnsupportedOperationException(
                "Fields of this record type cannot be reordered: type=" + type);
    }

    /** Whether the field cannot be null. */
    public boolean isPrimitive(String name) {
        return false;
    }

    /** Offset of the field for {@code Memory}, -1 where records are not read that way. */
    public long offsetOf(String name) {
        return -1;
    }

    public final Getter<T> getter(String name) {
        return getterAt(indexOf(name), name);
    }

    /** Reads a field as a part of a key: as {@link #getter} does, or as {@link KeyPart} allows. */
    Getter<T> keyGetter(String name) {
        return getter(name);
    }

    abstract Getter<T> getterAt(int index, String name);

    /** Reads an integer field, see {@link FieldKind#isKey}. */
    IntegerReader<T> integerReader(RecordField field) {
        Getter<T> getter = getter(field.name());
        return new IntegerReader<>() {
            @Override
            public boolean isNull(T record) {
                return getter.get(record) == null;
            }

            @Override
            public long read(T record) {
                Object value = getter.get(record);
                try {
                    return field.kind() == FieldKind.LONG
                            ? (Long) value
                            : FieldBits.of(value, field.kind());
                } catch (ClassCastException e) {
                    throw ValueWriter.otherType(field, value, e);
                }
            }
        };
    }

    /** Returns a reader of an integer field that is not null. */
    public ToLongFunction<T> integers(String name) {
        RecordField field =
                new RecordField(name, FieldKind.of(typeOf(name)), false, typeOf(name), null);
        return integerReader(field)::read;
    }

    /** Writes a field, see {@link RecordField#column}. */
    ColumnWriter<T> writer(int column, RecordField field) {
        return new ValueWriter<>(column, field, getter(field.name()));
    }

    /** What the record does, of kinds of records that say it; others are all inserted. */
    RowKind kindOf(T record) {
        return RowKind.INSERT;
    }

    final int indexOf(String name) {
        int index = names.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "Unknown field: name=%s, fields=%s, type=%s. Choose one of the fields."
                            .formatted(name, names, type));
        }
        return index;
    }

    final TypeInformation<T> type() {
        return type;
    }

    @Override
    public String toString() {
        return type + names.toString();
    }
}
