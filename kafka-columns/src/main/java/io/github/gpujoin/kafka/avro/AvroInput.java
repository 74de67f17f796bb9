// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kafka.avro;

import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.kafka.BadRecordException;

/**
 * Reads Avro's binary encoding from an array. Every read checks the end of the input. Not
 * thread-safe.
 */
final class AvroInput {

    private static final byte[] NONE = new byte[0];

    private byte[] bytes = NONE;
    private int position;
    private int end;

    /** Continues with other bytes. */
    void wrap(byte[] input, int offset, int length) {
        bytes = input;
        position = offset;
        end = offset + length;
    }

    byte[] array() {
        return bytes;
    }

    int position() {
        return position;
    }

    int remaining() {
        return end - position;
    }

    /** Reads an int or long: a zigzag number of at most 10 bytes. */
    long readLong() throws BadRecordException {
        int at = position;
        if (at < end && bytes[at] >= 0) {
            position = at + 1;
            return unzigzag(bytes[at]);
        }
        long value = 0;
        for (int shift = 0; shift < Long.SIZE; shift += 7) {
            if (at == end) {
                throw truncated(1);
            }
            byte next = bytes[at++];
            value |= (next & 0x7FL) << shift;
            if (next >= 0) {
                position = at;
                return unzigzag(value);
            }
        }
        throw new BadRecordException("Number has more than 10 bytes: position=" + position);
    }

    private static long unzigzag(long value) {
        return value >>> 1 ^ -(value & 1);
    }

    int readInt() throws BadRecordException {
        long value = readLong();
        if (value != (int) value) {
            throw new BadRecordException("Number is no int: value=" + value);
        }
        return (int) value;
    }

    boolean readBoolean() throws BadRecordException {
        return bytes[skip(1)] != 0;
    }

    float readFloat() throws BadRecordException {
        return Float.intBitsToFloat(Memory.getInt(bytes, Memory.BYTES + skip(Float.BYTES)));
    }

    double readDouble() throws BadRecordException {
        return Double.longBitsToDouble(Memory.getLong(bytes, Memory.BYTES + skip(Double.BYTES)));
    }

    /** Reads the length of a value whose bytes follow, and which are all there. */
    int readLength() throws BadRecordException {
        long length = readLong();
        if (length < 0 || length > end - position) {
            throw length < 0
                    ? new BadRecordException("Length is negative: length=" + length)
                    : truncated(length);
        }
        return (int) length;
    }

    /** Skips bytes, and returns the index of the first one in the array. */
    int skip(long length) throws BadRecordException {
        int at = position;
        if (length < 0 || length > end - at) {
            throw truncated(length);
        }
        position = at + (int) length;
        return at;
    }

    private BadRecordException truncated(long wanted) {
        return new BadRecordException(
                "Value ends too early: wantedBytes=" + wanted + ", leftBytes=" + (end - position));
    }
}
