// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.flink.record.FieldKind;
import java.lang.invoke.LambdaMetafactory;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Array;
import java.lang.reflect.Constructor;
import java.lang.reflect.Field;
import java.lang.reflect.RecordComponent;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * Makes objects of a class: of a POJO by its constructor without arguments, its fields to be set
 * afterwards; of a Java record by its canonical one, from arguments that are collected first.
 */
abstract class RecordFactory<T> {

    static <T> RecordFactory<T> of(Class<T> type) {
        return type.isRecord() ? new OfRecord<>(type) : new OfPojo<>(type);
    }

    /** What writers write to: the object, or the arguments of its constructor. */
    abstract Object begin() throws Exception;

    abstract T finish(Object begun) throws Exception;

    abstract FieldWriter writer(Field field, FieldKind kind);

    private static MethodHandle handle(Class<?> type, Class<?>... parameters) {
        try {
            Constructor<?> constructor = type.getDeclaredConstructor(parameters);
            constructor.setAccessible(true);
            return MethodHandles.lookup().unreflectConstructor(constructor);
        } catch (ReflectiveOperationException e) {
            throw new IllegalArgumentException(
                    "The result class lacks a constructor: class=%s, parameters=%s. Add the constructor."
                            .formatted(type.getName(), Arrays.toString(parameters)),
                    e);
        }
    }

    private static Exception asException(Throwable thrown) {
        if (thrown instanceof Error error) {
            throw error;
        }
        return (Exception) thrown;
    }

    private static final class OfPojo<T> extends RecordFactory<T> {
        private final Callable<?> constructor;

        OfPojo(Class<T> type) {
            MethodHandle handle = handle(type);
            Callable<?> generated = generated(type, handle);
            this.constructor = generated == null ? called(handle) : generated;
        }

        /**
         * Returns a generated class that calls the constructor, which the compiler inlines, unlike
         * a handle in a field; null if the class or its constructor is not accessible that way.
         */
        private static @Nullable Callable<?> generated(Class<?> type, MethodHandle constructor) {
            try {
                MethodHandles.Lookup inside =
                        MethodHandles.privateLookupIn(type, MethodHandles.lookup());
                return (Callable<?>)
                        LambdaMetafactory.metafactory(
                                        inside,
                                        "call",
                                        MethodType.methodType(Callable.class),
                                        MethodType.methodType(Object.class),
                                        constructor,
                                        MethodType.methodType(type))
                                .getTarget()
                                .invoke();
            } catch (Throwable e) {
                return null;
            }
        }

        private static Callable<Object> called(MethodHandle constructor) {
            MethodHandle generic = constructor.asType(MethodType.methodType(Object.class));
            return () -> {
                try {
                    return (Object) generic.invokeExact();
                } catch (Throwable e) {
                    throw asException(e);
                }
            };
        }

        @Override
        Object begin() throws Exception {
            return constructor.call();
        }

        @Override
        @SuppressWarnings("unchecked")
        T finish(Object begun) {
            return (T) begun;
        }

        @Override
        FieldWriter writer(Field field, FieldKind kind) {
            return FieldWriter.ofField(field, kind);
        }
    }

    private static final class OfRecord<T> extends RecordFactory<T> {
        private final RecordComponent[] components;
        private final Object[] defaults;
        private final MethodHandle constructor;

        OfRecord(Class<T> type) {
            this.components = type.getRecordComponents();
            Class<?>[] types =
                    Arrays.stream(components)
                            .map(RecordComponent::getType)
                            .toArray(Class<?>[]::new);
            this.defaults = new Object[types.length];
            for (int i = 0; i < types.length; i++) {
                // An array of a primitive type starts with its default value.
                defaults[i] =
                        types[i].isPrimitive()
                                ? Array.get(Array.newInstance(types[i], 1), 0)
                                : null;
            }
            this.constructor =
                    handle(type, types)
                            .asSpreader(Object[].class, types.length)
                            .asType(MethodType.methodType(Object.class, Object[].class));
        }

        @Override
        Object begin() {
            return defaults.clone();
        }

        @Override
        @SuppressWarnings("unchecked")
        T finish(Object begun) throws Exception {
            try {
                return (T) (Object) constructor.invokeExact((Object[]) begun);
            } catch (Throwable e) {
                throw asException(e);
            }
        }

        @Override
        FieldWriter writer(Field field, FieldKind kind) {
            for (int i = 0; i < components.length; i++) {
                if (components[i].getName().equals(field.getName())) {
                    return FieldWriter.ofArgument(i, field, kind);
                }
            }
            throw new IllegalArgumentException(
                    "The field is not a component of its record: field=" + field);
        }
    }
}
