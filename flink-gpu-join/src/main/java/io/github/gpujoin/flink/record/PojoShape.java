// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.region.Memory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.util.List;
import org.apache.flink.api.common.typeinfo.TypeInformation;
import org.apache.flink.api.java.typeutils.PojoTypeInfo;
import org.apache.flink.util.FlinkRuntimeException;

/** POJOs by Flink's rules, Java records among them. */
final class PojoShape<T> extends RecordShape<T> {

    private final PojoTypeInfo<T> pojo;

    PojoShape(PojoTypeInfo<T> pojo) {
        super(pojo, List.of(pojo.getFieldNames()));
        this.pojo = pojo;
    }

    private Field field(int index) {
        return pojo.getPojoFieldAt(index).getField();
    }

    @Override
    TypeInformation<?> typeAt(int index, String name) {
        return pojo.getPojoFieldAt(index).getTypeInformation();
    }

    @Override
    public boolean isPrimitive(String name) {
        return field(indexOf(name)).getType().isPrimitive();
    }

    @Override
    public long offsetOf(String name) {
        return isJavaRecord() ? -1 : Memory.fieldOffset(field(indexOf(name)));
    }

    private boolean isJavaRecord() {
        return pojo.getTypeClass().isRecord();
    }

    @Override
    Getter<T> getterAt(int index, String name) {
        Field field = field(index);
        if (isJavaRecord() || field.getType().isPrimitive()) {
            return reflective(field);
        }
        long offset = Memory.fieldOffset(field);
        return record -> Memory.getObject(record, offset);
    }

    /** Texts without a call of a getter. */
    @Override
    ColumnWriter<T> writer(int column, RecordField field) {
        long offset = offsetOf(field.name());
        if (offset < 0 || field.kind() != FieldKind.STRING) {
            return super.writer(column, field);
        }
        return (record, target) -> {
            String text = (String) Memory.getObject(record, offset);
            if (text == null) {
                target.addNull();
            } else {
                target.addString(text);
            }
        };
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
                    throw new FlinkRuntimeException(unreadable(field), e);
                }
            };
        } catch (IllegalAccessException e) {
            throw new IllegalArgumentException(unreadable(field), e);
        }
    }

    private static String unreadable(Field field) {
        return "Field of a POJO cannot be read: field=%s. Make the field and its class public."
                .formatted(field);
    }
}
