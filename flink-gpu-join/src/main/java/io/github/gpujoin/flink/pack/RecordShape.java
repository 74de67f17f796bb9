package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.region.Memory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.Arrays;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.tuple.Tuple;
import org.apache.flink.api.java.typeutils.PojoField;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.RowTypeInfo;
import org.apache.flink.api.java.typeutils.TupleTypeInfo;
import org.apache.flink.types.Row;
import org.apache.flink.util.FlinkRuntimeException;

/** The fields of a record type, and ways to read them. Not serializable: made where it is used. */
final class RecordShape<T> {

    /** Reads one field of a record as an object. */
    interface Getter<T> {
        Object get(T record);
    }

    private final TypeInformation<T> type;
    private final List<String> names;

    private RecordShape(TypeInformation<T> type, String[] names) {
        this.type = type;
        this.names = List.of(names);
    }

    /** Whether values of the type have fields that can be read. */
    static boolean isRecord(TypeInformation<?> type) {
        return type instanceof PojoTypeInfo
                || type instanceof RowTypeInfo
                || type instanceof TupleTypeInfo;
    }

    /**
     * @throws IllegalArgumentException where the type has no named fields
     */
    static <T> RecordShape<T> of(TypeInformation<T> type) {
        if (type instanceof PojoTypeInfo<T> pojo) {
            return new RecordShape<>(type, pojo.getFieldNames());
        }
        if (type instanceof RowTypeInfo row) {
            return new RecordShape<>(type, row.getFieldNames());
        }
        if (type instanceof TupleTypeInfo<?> tuple) {
            return new RecordShape<>(type, tuple.getFieldNames());
        }
        throw new IllegalArgumentException(
                "records with columns are POJOs, Rows or tuples: type=" + type);
    }

    List<String> names() {
        return names;
    }

    TypeInformation<?> typeOf(String name) {
        int index = indexOf(name);
        if (type instanceof PojoTypeInfo<T> pojo) {
            return pojo.getPojoFieldAt(index).getTypeInformation();
        }
        if (type instanceof RowTypeInfo row) {
            return row.getTypeAt(index);
        }
        return ((TupleTypeInfo<?>) type).getTypeAt(index);
    }

    /** Whether the field cannot be null. */
    boolean isPrimitive(String name) {
        return type instanceof PojoTypeInfo<T> pojo
                && pojo.getPojoFieldAt(indexOf(name)).getField().getType().isPrimitive();
    }

    /** Offset of the field for {@link Memory}, -1 where records are not read that way. */
    long offsetOf(String name) {
        if (type instanceof PojoTypeInfo<T> pojo && !type.getTypeClass().isRecord()) {
            return Memory.fieldOffset(pojo.getPojoFieldAt(indexOf(name)).getField());
        }
        return -1;
    }

    Getter<T> getter(String name) {
        int index = indexOf(name);
        if (type instanceof PojoTypeInfo<T> pojo) {
            PojoField field = pojo.getPojoFieldAt(index);
            if (type.getTypeClass().isRecord() || field.getField().getType().isPrimitive()) {
                return reflective(field.getField());
            }
            long offset = Memory.fieldOffset(field.getField());
            return record -> Memory.getObject(record, offset);
        }
        if (type instanceof RowTypeInfo) {
            return record -> rowField((Row) record, index, name);
        }
        return record -> ((Tuple) record).getField(index);
    }

    private int indexOf(String name) {
        int index = names.indexOf(name);
        if (index < 0) {
            throw new IllegalArgumentException(
                    "no such field: name=" + name + ", fields=" + names + ", of=" + type);
        }
        return index;
    }

    private static Object rowField(Row row, int index, String name) {
        return row.getFieldNames(false) == null ? row.getField(index) : row.getField(name);
    }

    private static <T> Getter<T> reflective(Field field) {
        try {
            field.setAccessible(true);
            MethodHandle handle =
                    MethodHandles.lookup()
                            .unreflectGetter(field)
                            .asType(MethodType.methodType(Object.class, Object.class));
            return record -> {
                try {
                    return (Object) handle.invokeExact((Object) record);
                } catch (Throwable e) {
                    throw new FlinkRuntimeException("a field is readable: field=" + field, e);
                }
            };
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException("a field is readable: field=" + field, e);
        }
    }

    @Override
    public String toString() {
        return type + Arrays.toString(names.toArray());
    }
}
