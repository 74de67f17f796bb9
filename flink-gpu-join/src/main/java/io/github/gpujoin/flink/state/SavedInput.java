// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import io.github.gpujoin.flink.record.SnapshotDamage;
import java.io.IOException;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.types.StringValue;

/**
 * Reads values of a snapshot. Checks each length against the remaining bytes before it allocates
 * memory, so damage costs no more memory than the snapshot.
 */
final class SavedInput {

    /** Lengths and characters have 7 bits a byte, the lowest first; the high bit continues. */
    private static final int VALUE_BITS = 7;

    private final String state;
    private final byte[] bytes;
    private final DataInputDeserializer in;

    /**
     * @param state name of the state, for messages
     */
    SavedInput(String state, byte[] bytes) {
        this.state = state;
        this.bytes = bytes;
        this.in = new DataInputDeserializer(bytes);
    }

    /** Reads values. */
    @FunctionalInterface
    interface Reader<T> {
        T read() throws IOException;
    }

    /**
     * Reads a value.
     *
     * @param what name of the value, for messages
     * @throws IllegalStateException if the bytes end within the value
     */
    <T> T read(String what, Reader<T> reader) {
        int start = in.getPosition();
        try {
            return reader.read();
        } catch (IOException e) {
            throw SnapshotDamage.in(
                    state,
                    "%s ends after the last byte: offset=%d, bytes=%d"
                            .formatted(what, start, bytes.length),
                    e);
        }
    }

    int readInt(String what) {
        return read(what, in::readInt);
    }

    boolean readBoolean(String what) {
        return read(what, in::readBoolean);
    }

    /** Reads the number of elements, each of at least one byte. */
    int readCount(String what) {
        int start = in.getPosition();
        return checked(readInt(what), what, start);
    }

    /** Reads a text as {@link StringValue} wrote it. */
    String readText(String what) {
        checked(textLength(what), what, in.getPosition());
        return read(what, () -> StringValue.readString(in));
    }

    /** Number of characters of the next text, -1 for null; the text stays unread. */
    private long textLength(String what) {
        long length = 0;
        int at = in.getPosition();
        for (int shift = 0; shift < Integer.SIZE && at < bytes.length; shift += VALUE_BITS) {
            byte next = bytes[at++];
            length |= (long) (next & 0x7f) << shift;
            if (next >= 0) {
                break;
            }
        }
        return length - 1;
    }

    /**
     * Reads the constant of an enum by its name.
     *
     * @throws IllegalStateException if the enum has no such constant
     */
    <E extends Enum<E>> E readEnum(String what, Class<E> type) {
        String name = readText(what);
        for (E constant : type.getEnumConstants()) {
            if (constant.name().equals(name)) {
                return constant;
            }
        }
        throw SnapshotDamage.in(state, "%s is unknown: value=%s".formatted(what, name));
    }

    /** Reads a length, and bytes of it. */
    byte[] readBytes(String what) {
        byte[] value = new byte[readCount(what)];
        return read(
                what,
                () -> {
                    in.readFully(value);
                    return value;
                });
    }

    private int checked(long length, String what, int start) {
        if (length < 0 || length > in.available()) {
            throw SnapshotDamage.in(
                    state,
                    "%s has an impossible length: length=%d, offset=%d, remainingBytes=%d"
                            .formatted(what, length, start, in.available()));
        }
        return (int) length;
    }

    /** Checks that all bytes were read. */
    void requireEnd() {
        if (in.available() > 0) {
            throw SnapshotDamage.in(
                    state, "bytes follow the last value: bytes=%d".formatted(in.available()));
        }
    }
}
