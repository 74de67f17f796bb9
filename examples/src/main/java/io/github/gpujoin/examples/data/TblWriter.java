// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.data;

import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;

/**
 * Writes fields of ASCII text, each followed by a bar, and lines that end with a line feed, as
 * dbgen does. Not thread-safe.
 */
final class TblWriter implements AutoCloseable {

    private static final int FLUSH_BYTES = 1 << 16;
    private static final int LONGEST_FIELD_BYTES = 1 << 10;

    private final OutputStream out;
    private final byte[] buffer = new byte[FLUSH_BYTES + LONGEST_FIELD_BYTES + 2];
    private int used;

    TblWriter(OutputStream out) {
        this.out = out;
    }

    TblWriter field(String text) throws IOException {
        if (text.length() >= LONGEST_FIELD_BYTES) {
            throw new IllegalArgumentException(
                    "Generated field is too long: length=%d, max=%d"
                            .formatted(text.length(), LONGEST_FIELD_BYTES - 1));
        }
        flushWhenFull();
        for (int i = 0; i < text.length(); i++) {
            buffer[used++] = (byte) text.charAt(i);
        }
        buffer[used++] = '|';
        return this;
    }

    /** A number from 0 on. */
    TblWriter field(long number) throws IOException {
        flushWhenFull();
        int digits = 1;
        for (long rest = number / 10; rest > 0; rest /= 10) {
            digits++;
        }
        long rest = number;
        for (int i = used + digits - 1; i >= used; i--) {
            buffer[i] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        used += digits;
        buffer[used++] = '|';
        return this;
    }

    void endLine() {
        buffer[used++] = '\n';
    }

    /** A line that is whole already, bars and all. */
    void line(String line) throws IOException {
        byte[] bytes = line.getBytes(StandardCharsets.UTF_8);
        flushWhenFull();
        if (bytes.length > LONGEST_FIELD_BYTES) {
            throw new IllegalArgumentException(
                    "Generated line is too long: lengthBytes=%d, maxBytes=%d"
                            .formatted(bytes.length, LONGEST_FIELD_BYTES));
        }
        System.arraycopy(bytes, 0, buffer, used, bytes.length);
        used += bytes.length;
        endLine();
    }

    private void flushWhenFull() throws IOException {
        if (used >= FLUSH_BYTES) {
            flush();
        }
    }

    private void flush() throws IOException {
        out.write(buffer, 0, used);
        used = 0;
    }

    @Override
    public void close() throws IOException {
        flush();
        out.close();
    }
}
