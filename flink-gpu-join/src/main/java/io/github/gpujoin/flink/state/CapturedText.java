// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.io.Externalizable;
import java.io.IOException;
import java.io.Serializable;
import java.lang.reflect.Array;
import java.lang.reflect.Field;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.time.temporal.Temporal;
import java.time.temporal.TemporalAmount;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Writes values that a function captured as text that is the same in each process. The order of
 * sets and maps has no effect. Other objects are written as their final and public fields. Classes
 * of Java, and classes with a {@code writeObject}, are written as their names only.
 */
final class CapturedText {

    private final Set<Object> parents = Collections.newSetFromMap(new IdentityHashMap<>());

    private CapturedText() {}

    static String of(@Nullable Object value) throws IOException, ReflectiveOperationException {
        return new CapturedText().text(value);
    }

    private String text(@Nullable Object value) throws IOException, ReflectiveOperationException {
        if (value == null) {
            return "null";
        }
        if (isPlain(value)) {
            return value.getClass().getSimpleName() + ' ' + value.toString().length() + ' ' + value;
        }
        if (value instanceof Pattern pattern) {
            return "Pattern " + pattern.flags() + ' ' + text(pattern.pattern());
        }
        if (value instanceof Enum<?> constant) {
            return constant.getDeclaringClass().getName() + '.' + constant.name();
        }
        if (value instanceof Class<?> type) {
            return type.getName();
        }
        if (!parents.add(value)) {
            return "parent";
        }
        try {
            return ofParts(value);
        } finally {
            parents.remove(value);
        }
    }

    private static boolean isPlain(Object value) {
        return value instanceof String
                || value instanceof Boolean
                || value instanceof Character
                || value instanceof Byte
                || value instanceof Short
                || value instanceof Integer
                || value instanceof Long
                || value instanceof Float
                || value instanceof Double
                || value instanceof BigInteger
                || value instanceof BigDecimal
                || value instanceof UUID
                || isJava(value) && value instanceof Temporal
                || isJava(value) && value instanceof TemporalAmount;
    }

    private static boolean isJava(Object value) {
        return value.getClass().getName().startsWith("java.");
    }

    private String ofParts(Object value) throws IOException, ReflectiveOperationException {
        if (value.getClass().isArray()) {
            List<String> elements = new ArrayList<>();
            for (int i = 0; i < Array.getLength(value); i++) {
                elements.add(text(Array.get(value, i)));
            }
            return elements.toString();
        }
        if (value instanceof Map<?, ?> map) {
            Map<String, String> entries = new TreeMap<>();
            for (Map.Entry<?, ?> entry : map.entrySet()) {
                entries.put(text(entry.getKey()), text(entry.getValue()));
            }
            return entries.toString();
        }
        if (value instanceof Collection<?> collection) {
            List<String> elements = new ArrayList<>();
            for (Object element : collection) {
                elements.add(text(element));
            }
            if (!(value instanceof List)) {
                Collections.sort(elements);
            }
            return elements.toString();
        }
        if (FunctionText.lambda(value) != null) {
            return FunctionText.of(value, "").text();
        }
        return ofObject(value);
    }

    /** Fields of an object; of a lambda, its code too. */
    private String ofObject(Object value) throws IOException, ReflectiveOperationException {
        Class<?> type = value.getClass();
        ClassLoader loader = type.getClassLoader();
        if (loader == null
                || loader == ClassLoader.getPlatformClassLoader()
                || hasCustomSerialization(type)) {
            return type.getName();
        }
        boolean generated = ClassFile.isGenerated(type.getName());
        StringBuilder text = new StringBuilder(generated ? "" : type.getName());
        if (generated) {
            ClassFile file = ClassFile.of(type.getName().replace('.', '/'), loader);
            text.append(file.implementations(null, null));
        }
        Map<String, String> fields = new TreeMap<>();
        for (Field field : type.getDeclaredFields()) {
            if (isStable(field)) {
                field.setAccessible(true);
                fields.put(field.getName(), text(field.get(value)));
            }
        }
        return text.append(fields).toString();
    }

    private static boolean hasCustomSerialization(Class<?> type) {
        return !Serializable.class.isAssignableFrom(type)
                || Externalizable.class.isAssignableFrom(type)
                || Arrays.stream(type.getDeclaredMethods())
                        .map(Method::getName)
                        .anyMatch(Set.of("writeReplace", "writeObject")::contains);
    }

    /** Whether use of the object cannot change the field. */
    private static boolean isStable(Field field) {
        int flags = field.getModifiers();
        return (Modifier.isFinal(flags) || Modifier.isPublic(flags))
                && !Modifier.isStatic(flags)
                && !Modifier.isTransient(flags)
                && !field.getName().startsWith("this$");
    }
}
