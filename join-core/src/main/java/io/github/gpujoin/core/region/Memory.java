// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.region;

import java.lang.reflect.Field;
import java.nio.Buffer;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.jspecify.annotations.Nullable;
import sun.misc.Unsafe;

/**
 * Raw little-endian loads and stores on byte arrays and native memory. The only class that uses
 * {@code sun.misc.Unsafe}.
 *
 * <p>An extent is a pair {@code (base, offset)}. For a byte array, {@code base} is the array and
 * byte i has the offset {@link #BYTES} + i. For native memory, {@code base} is null and {@code
 * offset} is an address. For a field of an object, {@code base} is the object and {@code offset} is
 * its {@link #fieldOffset}. Methods without a {@code base} access native memory.
 *
 * <p>Nothing is bounds-checked: callers check an extent once and then loop over it. An access out
 * of bounds corrupts memory or ends the process. Loads and stores are plain unless their name says
 * otherwise, and need no alignment then. The class refuses to initialize on a big-endian machine.
 *
 * <p>Every method tells null bases from others before it calls Unsafe, though Unsafe does both. C2
 * of HotSpot 17 takes the address of a base that may be null as a plain number, and may compute it
 * before a loop. If the garbage collector moves the array while a thread is in the loop, its later
 * accesses are to the array's former place.
 */
public final class Memory {

    private static final Unsafe UNSAFE = unsafe();

    /** Offset of element 0 of a byte array. */
    public static final long BYTES = Unsafe.ARRAY_BYTE_BASE_OFFSET;

    /** Offset of element 0 of an int array. */
    public static final long INTS = Unsafe.ARRAY_INT_BASE_OFFSET;

    /** Offset of element 0 of a long array. */
    public static final long LONGS = Unsafe.ARRAY_LONG_BASE_OFFSET;

    private static final long BUFFER_ADDRESS = bufferAddressOffset();

    /** Offsets of a String's bytes and of their encoding; -1 if this JVM has no such fields. */
    private static final long STRING_VALUE = stringOffset("value", byte[].class);

    private static final long STRING_CODER = stringOffset("coder", byte.class);

    static {
        if (ByteOrder.nativeOrder() != ByteOrder.LITTLE_ENDIAN) {
            throw new IllegalStateException(
                    "Machine is not little-endian, as chunks require: byteOrder="
                            + ByteOrder.nativeOrder());
        }
    }

    private Memory() {}

    public static byte getByte(@Nullable Object base, long offset) {
        return base == null ? UNSAFE.getByte(offset) : UNSAFE.getByte(base, offset);
    }

    public static void putByte(@Nullable Object base, long offset, byte value) {
        if (base == null) {
            UNSAFE.putByte(offset, value);
        } else {
            UNSAFE.putByte(base, offset, value);
        }
    }

    public static short getShort(@Nullable Object base, long offset) {
        return base == null ? UNSAFE.getShort(offset) : UNSAFE.getShort(base, offset);
    }

    public static void putShort(@Nullable Object base, long offset, short value) {
        if (base == null) {
            UNSAFE.putShort(offset, value);
        } else {
            UNSAFE.putShort(base, offset, value);
        }
    }

    public static int getInt(@Nullable Object base, long offset) {
        return base == null ? UNSAFE.getInt(offset) : UNSAFE.getInt(base, offset);
    }

    public static void putInt(@Nullable Object base, long offset, int value) {
        if (base == null) {
            UNSAFE.putInt(offset, value);
        } else {
            UNSAFE.putInt(base, offset, value);
        }
    }

    public static long getLong(@Nullable Object base, long offset) {
        return base == null ? UNSAFE.getLong(offset) : UNSAFE.getLong(base, offset);
    }

    public static void putLong(@Nullable Object base, long offset, long value) {
        if (base == null) {
            UNSAFE.putLong(offset, value);
        } else {
            UNSAFE.putLong(base, offset, value);
        }
    }

    /** Native loads and stores, for loops over native memory only. */
    public static byte getByte(long address) {
        return UNSAFE.getByte(address);
    }

    public static void putByte(long address, byte value) {
        UNSAFE.putByte(address, value);
    }

    public static short getShort(long address) {
        return UNSAFE.getShort(address);
    }

    public static void putShort(long address, short value) {
        UNSAFE.putShort(address, value);
    }

    public static int getInt(long address) {
        return UNSAFE.getInt(address);
    }

    public static void putInt(long address, int value) {
        UNSAFE.putInt(address, value);
    }

    public static long getLong(long address) {
        return UNSAFE.getLong(address);
    }

    public static void putLong(long address, long value) {
        UNSAFE.putLong(address, value);
    }

    /**
     * Release store of an aligned word, which is atomic. Earlier writes of this thread are visible
     * to every reader that loads {@code value} by {@link #getLongAcquire}: in this process, in
     * another one that maps the memory, or on a device.
     */
    public static void putLongRelease(@Nullable Object base, long offset, long value) {
        if (base == null) {
            UNSAFE.putOrderedLong(null, offset, value);
        } else {
            UNSAFE.putOrderedLong(base, offset, value);
        }
    }

    /**
     * Release store of an aligned int, with the guarantees of {@link #putLongRelease} for a reader
     * that loads it with acquire order.
     */
    public static void putIntRelease(@Nullable Object base, long offset, int value) {
        if (base == null) {
            UNSAFE.putOrderedInt(null, offset, value);
        } else {
            UNSAFE.putOrderedInt(base, offset, value);
        }
    }

    /**
     * Acquire load of an aligned word, which is atomic. Later reads of this thread see at least
     * what the writer had written before the value.
     */
    public static long getLongAcquire(@Nullable Object base, long offset) {
        return base == null
                ? UNSAFE.getLongVolatile(null, offset)
                : UNSAFE.getLongVolatile(base, offset);
    }

    /**
     * Loads a signed integer, for code outside of hot loops.
     *
     * @param widthBytes 1, 2, 4 or 8
     */
    public static long getInteger(@Nullable Object base, long offset, int widthBytes) {
        return switch (widthBytes) {
            case Long.BYTES -> getLong(base, offset);
            case Integer.BYTES -> getInt(base, offset);
            case Short.BYTES -> getShort(base, offset);
            default -> getByte(base, offset);
        };
    }

    /**
     * Stores the lowest bytes of an integer, for code outside of hot loops.
     *
     * @param widthBytes 1, 2, 4 or 8
     */
    public static void putInteger(@Nullable Object base, long offset, int widthBytes, long value) {
        switch (widthBytes) {
            case Long.BYTES -> putLong(base, offset, value);
            case Integer.BYTES -> putInt(base, offset, (int) value);
            case Short.BYTES -> putShort(base, offset, (short) value);
            default -> putByte(base, offset, (byte) value);
        }
    }

    public static void copy(
            @Nullable Object sourceBase,
            long sourceOffset,
            @Nullable Object targetBase,
            long targetOffset,
            long lengthBytes) {
        if (sourceBase == null) {
            copyNative(sourceOffset, targetBase, targetOffset, lengthBytes);
        } else if (targetBase == null) {
            UNSAFE.copyMemory(sourceBase, sourceOffset, null, targetOffset, lengthBytes);
        } else {
            UNSAFE.copyMemory(sourceBase, sourceOffset, targetBase, targetOffset, lengthBytes);
        }
    }

    private static void copyNative(
            long source, @Nullable Object targetBase, long targetOffset, long lengthBytes) {
        if (targetBase == null) {
            UNSAFE.copyMemory(source, targetOffset, lengthBytes);
        } else {
            UNSAFE.copyMemory(null, source, targetBase, targetOffset, lengthBytes);
        }
    }

    /** Whether two ranges contain the same bytes. */
    public static boolean equal(
            @Nullable Object base,
            long offset,
            @Nullable Object otherBase,
            long otherOffset,
            long lengthBytes) {
        long at = 0;
        for (; at <= lengthBytes - Long.BYTES; at += Long.BYTES) {
            if (getLong(base, offset + at) != getLong(otherBase, otherOffset + at)) {
                return false;
            }
        }
        for (; at < lengthBytes; at++) {
            if (getByte(base, offset + at) != getByte(otherBase, otherOffset + at)) {
                return false;
            }
        }
        return true;
    }

    public static void fill(@Nullable Object base, long offset, long lengthBytes, byte value) {
        if (base == null) {
            UNSAFE.setMemory(offset, lengthBytes, value);
        } else {
            UNSAFE.setMemory(base, offset, lengthBytes, value);
        }
    }

    /**
     * Returns the offset of a field for {@link #getInt(Object, long)} and similar methods.
     *
     * @throws UnsupportedOperationException for fields of records and hidden classes
     */
    @SuppressWarnings("deprecation")
    public static long fieldOffset(Field field) {
        return UNSAFE.objectFieldOffset(field);
    }

    /** Reads a field of an object, which is not null and contains a reference. */
    public static Object getObject(Object base, long offset) {
        return UNSAFE.getObject(base, offset);
    }

    /** Writes a field of an object, without checking the type of the value. */
    public static void putObject(Object base, long offset, Object value) {
        UNSAFE.putObject(base, offset, value);
    }

    /**
     * Returns the bytes of a text all of whose chars are below 256, one a char: the String's own
     * array, which must not be modified.
     *
     * @return null if the text has other chars, or this JVM stores it otherwise
     */
    public static byte @Nullable [] latin1(String text) {
        if (STRING_VALUE < 0 || STRING_CODER < 0 || getByte(text, STRING_CODER) != 0) {
            return null;
        }
        return (byte[]) getObject(text, STRING_VALUE);
    }

    /** Returns the address of a direct buffer's first byte. */
    static long addressOf(ByteBuffer direct) {
        return UNSAFE.getLong(direct, BUFFER_ADDRESS);
    }

    /** Unmaps a mapped buffer immediately. Its addresses are invalid afterwards. */
    static void unmap(ByteBuffer mapped) {
        UNSAFE.invokeCleaner(mapped);
    }

    static long allocate(long lengthBytes) {
        return UNSAFE.allocateMemory(lengthBytes);
    }

    static void free(long address) {
        UNSAFE.freeMemory(address);
    }

    private static long bufferAddressOffset() {
        try {
            return fieldOffset(Buffer.class.getDeclaredField("address"));
        } catch (NoSuchFieldException e) {
            throw new ExceptionInInitializerError(e);
        }
    }

    private static long stringOffset(String name, Class<?> type) {
        try {
            Field field = String.class.getDeclaredField(name);
            return field.getType() == type ? fieldOffset(field) : -1;
        } catch (NoSuchFieldException e) {
            return -1;
        }
    }

    private static Unsafe unsafe() {
        try {
            Field field = Unsafe.class.getDeclaredField("theUnsafe");
            field.setAccessible(true);
            return (Unsafe) field.get(null);
        } catch (ReflectiveOperationException e) {
            throw new ExceptionInInitializerError(e);
        }
    }
}
