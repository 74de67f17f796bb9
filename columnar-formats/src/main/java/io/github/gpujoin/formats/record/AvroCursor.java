// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.record;

/** A position in a record, for values that are skipped. Not thread-safe. */
final class AvroCursor {

    private static final byte[] NONE = new byte[0];

    private byte[] bytes = NONE;
    private int position;
    private int end;

    /** Continues with other bytes. */
    void wrap(byte[] input, int from, int to) {
        bytes = input;
        position = from;
        end = to;
    }

    int position() {
        return position;
    }

    long readLong() throws BadRecordException {
        long word = Varints.word(bytes, position, end);
        long value = Varints.value(word, bytes, position, end);
        position = Varints.next(word, bytes, position, end);
        return value;
    }

    /** Skips bytes. */
    void skip(long count) throws BadRecordException {
        if (count < 0 || count > end - position) {
            throw Varints.truncated(count, end - position);
        }
        position += (int) count;
    }

    /** Skips a length and as many bytes. */
    void skipBytes() throws BadRecordException {
        skip(readLong());
    }
}
