// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.eventtime;

import io.github.gpujoin.flink.state.FullKey;
import java.nio.ByteBuffer;
import java.util.stream.LongStream;

/**
 * Timers of keys as numbers in state:
 *
 * <pre>
 *   exact keys    key, timer, ...
 *   hashed keys   hash, timer, count of key bytes, key bytes (8 a number, zeros at the end), ...
 * </pre>
 */
final class KeyTimers {

    /** Receives the timers of keys. */
    @FunctionalInterface
    interface Consumer {

        /**
         * @param time event time in ms
         */
        void accept(FullKey key, long time);
    }

    private final boolean areHashed;
    private final LongStream.Builder numbers = LongStream.builder();

    /**
     * @param areHashed whether equal integers are not always equal keys
     */
    KeyTimers(boolean areHashed) {
        this.areHashed = areHashed;
    }

    /** Adds the timer of a key, in ms of event time. */
    void add(FullKey key, long time) {
        numbers.add(key.integer()).add(time);
        if (areHashed) {
            byte[] bytes = key.bytes();
            numbers.add(bytes.length);
            ByteBuffer padded = ByteBuffer.allocate(paddedLength(bytes.length)).put(bytes).rewind();
            while (padded.hasRemaining()) {
                numbers.add(padded.getLong());
            }
        }
    }

    private static int paddedLength(int length) {
        return (length + Long.BYTES - 1) / Long.BYTES * Long.BYTES;
    }

    /** Returns the numbers. To be called once. */
    long[] toArray() {
        return numbers.build().toArray();
    }

    /** Reads what {@link #toArray} returned. */
    static void read(long[] numbers, boolean areHashed, Consumer consumer) {
        int at = 0;
        while (at < numbers.length) {
            long integer = numbers[at++];
            long time = numbers[at++];
            if (!areHashed) {
                consumer.accept(FullKey.exact(integer), time);
                continue;
            }
            byte[] bytes = new byte[(int) numbers[at++]];
            ByteBuffer padded = ByteBuffer.allocate(paddedLength(bytes.length));
            while (padded.hasRemaining()) {
                padded.putLong(numbers[at++]);
            }
            padded.rewind().get(bytes);
            consumer.accept(FullKey.hashed(integer, bytes), time);
        }
    }
}
