// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.record.DelegatingSerializer;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.serialization.SerializerConfig;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.java.typeutils.PojoField;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.api.java.typeutils.runtime.PojoSerializer;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/**
 * A POJO type as Flink has it, except that copies of records are made without reflection. Flink
 * copies each record between chained operators, unless objects are reused.
 */
public final class ResultPojoType<T> extends PojoTypeInfo<T> {

    private static final long serialVersionUID = 1L;

    private ResultPojoType(Class<T> type, List<PojoField> fields) {
        super(type, fields);
    }

    /** Returns the type of a class, which is a POJO or another one. */
    public static <T> TypeInformation<T> of(Class<T> type) {
        TypeInformation<T> known = TypeInformation.of(type);
        // The canonical constructor of a Java record sets all of its fields; Flink calls it.
        if (known.getClass() != PojoTypeInfo.class || type.isRecord()) {
            return known;
        }
        PojoTypeInfo<T> pojo = (PojoTypeInfo<T>) known;
        List<PojoField> fields = new ArrayList<>();
        for (int i = 0; i < pojo.getArity(); i++) {
            fields.add(pojo.getPojoFieldAt(i));
        }
        return new ResultPojoType<>(type, fields);
    }

    @Override
    public TypeSerializer<T> createSerializer(SerializerConfig config) {
        TypeSerializer<T> serializer = super.createSerializer(config);
        return serializer instanceof PojoSerializer
                ? new Serializer<>(serializer, this, copiedBy(config))
                : serializer;
    }

    /** Returns what copies each field's values, null for values that need no copy. */
    private List<@Nullable TypeSerializer<Object>> copiedBy(SerializerConfig config) {
        List<@Nullable TypeSerializer<Object>> serializers = new ArrayList<>();
        for (int i = 0; i < getArity(); i++) {
            @SuppressWarnings("unchecked")
            TypeSerializer<Object> field =
                    (TypeSerializer<Object>) getTypeAt(i).createSerializer(config);
            serializers.add(field.isImmutableType() ? null : field);
        }
        return serializers;
    }

    private static final class Serializer<T> extends DelegatingSerializer<T> {

        private static final long serialVersionUID = 1L;

        private final ResultPojoType<T> type;
        private final ArrayList<@Nullable TypeSerializer<Object>> copiedBy;

        /** Made on first use, as it cannot be serialized. */
        private transient @Nullable Copier<T> copier;

        Serializer(
                TypeSerializer<T> of,
                ResultPojoType<T> type,
                List<@Nullable TypeSerializer<Object>> copiedBy) {
            super(of);
            this.type = type;
            this.copiedBy = new ArrayList<>(copiedBy);
        }

        @Override
        public T copy(T from) {
            if (from == null || from.getClass() != type.getTypeClass()) {
                return of().copy(from); // a subclass, whose own fields are copied, too
            }
            if (copier == null) {
                copier = new Copier<>(type, copiedBy);
            }
            return copier.copy(from);
        }

        @Override
        public TypeSerializer<T> duplicate() {
            List<@Nullable TypeSerializer<Object>> duplicates = new ArrayList<>();
            copiedBy.forEach(field -> duplicates.add(field == null ? null : field.duplicate()));
            return new Serializer<>(of().duplicate(), type, duplicates);
        }
    }

    /** Copies the fields of records from offset to offset. */
    private static final class Copier<T> {

        private final RecordFactory<T> factory;
        private final FieldCopy[] fields;

        private record FieldCopy(
                long offset, int widthBytes, @Nullable TypeSerializer<Object> serializer) {}

        Copier(PojoTypeInfo<T> type, List<@Nullable TypeSerializer<Object>> copiedBy) {
            this.factory = RecordFactory.of(type.getTypeClass());
            this.fields = new FieldCopy[type.getArity()];
            for (int i = 0; i < fields.length; i++) {
                var field = type.getPojoFieldAt(i).getField();
                Class<?> value = field.getType();
                int widthBytes = value.isPrimitive() ? widthBytes(value) : 0;
                fields[i] = new FieldCopy(Memory.fieldOffset(field), widthBytes, copiedBy.get(i));
            }
        }

        private static int widthBytes(Class<?> primitive) {
            if (primitive == long.class || primitive == double.class) {
                return Long.BYTES;
            }
            if (primitive == int.class || primitive == float.class) {
                return Integer.BYTES;
            }
            return primitive == byte.class || primitive == boolean.class ? Byte.BYTES : Short.BYTES;
        }

        T copy(T from) {
            try {
                Object copy = factory.begin();
                for (FieldCopy field : fields) {
                    copy(from, copy, field);
                }
                return factory.finish(copy);
            } catch (Exception e) {
                throw new FlinkRuntimeException(
                        "A result cannot be copied: class=" + from.getClass().getName(), e);
            }
        }

        private static void copy(Object from, Object to, FieldCopy field) {
            long at = field.offset;
            switch (field.widthBytes) {
                case Long.BYTES -> Memory.putLong(to, at, Memory.getLong(from, at));
                case Integer.BYTES -> Memory.putInt(to, at, Memory.getInt(from, at));
                case Short.BYTES -> Memory.putShort(to, at, Memory.getShort(from, at));
                case Byte.BYTES -> Memory.putByte(to, at, Memory.getByte(from, at));
                default -> {
                    Object value = Memory.getObject(from, at);
                    boolean isShared = value == null || field.serializer == null;
                    Memory.putObject(to, at, isShared ? value : field.serializer.copy(value));
                }
            }
        }
    }
}
