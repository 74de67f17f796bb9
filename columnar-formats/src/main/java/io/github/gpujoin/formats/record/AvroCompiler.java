// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.apache.avro.LogicalTypes;
import org.apache.avro.Schema;
import org.jspecify.annotations.Nullable;

/**
 * Binds and combines {@link AvroOperations}. The JIT compiler inlines what it combines, so that a
 * program is compiled like a method that was written for one schema, without a jump a field.
 */
final class AvroCompiler {

    /** Of operations and programs: {@code int (int at, byte[] in, int to, RowWriter row)}. */
    static final MethodType TYPE =
            MethodType.methodType(int.class, int.class, byte[].class, int.class, RowWriter.class);

    private static final Map<String, MethodHandle> OPERATIONS =
            Arrays.stream(AvroOperations.class.getDeclaredMethods())
                    .filter(method -> !Modifier.isPrivate(method.getModifiers()))
                    .collect(Collectors.toMap(Method::getName, AvroCompiler::handle));

    private final RowWriter row;
    private final AvroSkips skips = new AvroSkips();
    private final AvroCursor cursor = new AvroCursor();

    /**
     * @param row of the chunks to which programs write
     */
    AvroCompiler(RowWriter row) {
        this.row = row;
    }

    private static MethodHandle handle(Method method) {
        try {
            return MethodHandles.lookup().unreflect(method);
        } catch (IllegalAccessException e) {
            throw new IllegalStateException(e);
        }
    }

    private static MethodHandle bind(String name, Object... constants) {
        MethodHandle operation = OPERATIONS.get(name);
        return MethodHandles.insertArguments(operation, TYPE.parameterCount(), constants);
    }

    /** Returns a program of some operations, the first of which reads the first bytes. */
    static MethodHandle sequence(List<MethodHandle> operations) {
        int count = operations.size();
        if (count == 0) {
            return bind("skip", 0L);
        } else if (count == 1) {
            return operations.get(0);
        }
        // Halves, because a compiler does not inline deeply nested calls.
        MethodHandle first = sequence(operations.subList(0, count / 2));
        MethodHandle second = sequence(operations.subList(count / 2, count));
        return MethodHandles.foldArguments(
                MethodHandles.dropArguments(second, 1, int.class), first);
    }

    /**
     * Returns what reads a field.
     *
     * @throws IllegalArgumentException if the column cannot hold values of the type
     */
    MethodHandle read(Schema type, Column column, int index) {
        return unionOr(type, branch -> readOne(branch, column, index));
    }

    /** Returns what skips a field. */
    MethodHandle skip(Schema type) {
        return unionOr(type, this::skipOne);
    }

    /** Returns what skips some fields that are all numbers. */
    static MethodHandle skipNumbers(long count) {
        return bind("skipNumbers", count);
    }

    /** Returns what reads a default, which is encoded, with the operation of its field. */
    static MethodHandle constant(MethodHandle operation, byte[] value) {
        return bind("constant", operation, value);
    }

    static boolean isNumber(Schema type) {
        return switch (type.getType()) {
            case INT, LONG, ENUM -> true;
            default -> false;
        };
    }

    private static MethodHandle unionOr(Schema type, Function<Schema, MethodHandle> one) {
        if (type.getType() != Schema.Type.UNION) {
            return one.apply(type);
        }
        MethodHandle[] branches =
                type.getTypes().stream()
                        .map(branch -> sequence(List.of(skipNumbers(1), one.apply(branch))))
                        .map(branch -> MethodHandles.dropArguments(branch, 0, int.class))
                        .toArray(MethodHandle[]::new);
        return MethodHandles.foldArguments(
                MethodHandles.tableSwitch(OPERATIONS.get("noBranch"), branches),
                OPERATIONS.get("branch"));
    }

    private MethodHandle readOne(Schema type, Column column, int index) {
        MethodHandle operation;
        if (type.getType() == Schema.Type.NULL) {
            operation = bind("putNull", index);
        } else if (column.type().isInteger()) {
            operation = integer(type, column, index);
        } else if (column.type().isFixedWidth()) {
            operation = floating(type, column, index);
        } else {
            operation = bytes(type, column, index);
        }
        if (operation == null) {
            throw new IllegalArgumentException(
                    "Column cannot hold the values of its Avro field: column="
                            + column
                            + ", type="
                            + type);
        }
        return operation;
    }

    private @Nullable MethodHandle integer(Schema type, Column column, int index) {
        boolean isDecimal = type.getLogicalType() instanceof LogicalTypes.Decimal;
        int bytes = column.isFixed() ? column.type().widthBytes() : 0;
        return switch (type.getType()) {
            case BOOLEAN -> bind("bool", index);
            case INT ->
                    bytes == 4
                            ? bind("number4", row.start(index), index)
                            : bind("integer", index, Integer.SIZE);
            case LONG ->
                    switch (bytes) {
                        case 8 -> bind("number8", row.start(index));
                        case 4 -> bind("number4", row.start(index), index);
                        default -> bind("integer", index, Long.SIZE);
                    };
            case BYTES -> isDecimal ? bind("decimal", index) : null;
            case FIXED -> isDecimal ? bind("fixedDecimal", index, type.getFixedSize()) : null;
            default -> null;
        };
    }

    private @Nullable MethodHandle floating(Schema type, Column column, int index) {
        boolean isDouble = column.type() == ColumnType.FLOAT64;
        return switch (type.getType()) {
            case FLOAT ->
                    isDouble || !column.isFixed()
                            ? bind("float4", index)
                            : bind("raw4", row.start(index));
            case DOUBLE -> {
                if (!isDouble) {
                    yield null;
                }
                yield column.isFixed() ? bind("raw8", row.start(index)) : bind("float8", index);
            }
            default -> null;
        };
    }

    private static @Nullable MethodHandle bytes(Schema type, Column column, int index) {
        boolean isText = column.type() == ColumnType.STRING;
        return switch (type.getType()) {
            case STRING -> isText ? bind("bytes", index) : null;
            case ENUM -> isText ? bind("symbol", index, symbols(type)) : null;
            case BYTES -> isText ? null : bind("bytes", index);
            case FIXED -> isText ? null : bind("fixed", index, type.getFixedSize());
            default -> null;
        };
    }

    private static byte[][] symbols(Schema type) {
        return type.getEnumSymbols().stream()
                .map(symbol -> symbol.getBytes(StandardCharsets.UTF_8))
                .toArray(byte[][]::new);
    }

    private MethodHandle skipOne(Schema type) {
        return switch (type.getType()) {
            case NULL -> bind("skip", 0L);
            case BOOLEAN -> bind("skip", 1L);
            case INT, LONG, ENUM -> skipNumbers(1);
            case FLOAT -> bind("skip", (long) Float.BYTES);
            case DOUBLE -> bind("skip", (long) Double.BYTES);
            case FIXED -> bind("skip", (long) type.getFixedSize());
            case STRING, BYTES -> OPERATIONS.get("skipBytes");
            case ARRAY, MAP, RECORD, UNION -> bind("skipNested", skips.of(type), cursor);
        };
    }
}
