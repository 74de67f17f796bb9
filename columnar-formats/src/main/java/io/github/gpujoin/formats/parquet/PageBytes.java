// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.io.ParquetDecodingException;

/**
 * The decompressed bytes of a page, or a part of them. {@value #READABLE_BEHIND} bytes behind them
 * are readable.
 *
 * @param start offset of the first byte
 * @param end offset after the last one
 */
record PageBytes(byte[] bytes, int start, int end) {

    /** Bytes behind a page that decoders may read. */
    static final int READABLE_BEHIND = Long.BYTES;

    /** Returns the bytes of an input, which are copied only if they end with their array. */
    static PageBytes of(BytesInput input) throws IOException {
        ByteBuffer buffer = input.toByteBuffer();
        int length = buffer.remaining();
        if (buffer.hasArray()) {
            int start = buffer.arrayOffset() + buffer.position();
            if (buffer.array().length - start - length >= READABLE_BEHIND) {
                return new PageBytes(buffer.array(), start, start + length);
            }
        }
        byte[] bytes = new byte[length + READABLE_BEHIND];
        buffer.get(bytes, 0, length);
        return new PageBytes(bytes, 0, length);
    }

    /** Returns a copy, in an array of its own. */
    PageBytes copy() {
        int length = end - start;
        return new PageBytes(Arrays.copyOfRange(bytes, start, end + READABLE_BEHIND), 0, length);
    }

    /** Returns the part from an offset on. */
    PageBytes from(int offset) {
        if (offset < start || offset > end) {
            throw cut(offset, 0);
        }
        return new PageBytes(bytes, offset, end);
    }

    /**
     * @throws ParquetDecodingException if the page has fewer bytes from an offset on
     */
    void require(int offset, long length) {
        if (length > end - offset) {
            throw cut(offset, length);
        }
    }

    private ParquetDecodingException cut(int offset, long length) {
        return new ParquetDecodingException(
                "Page is shorter than its values: offset="
                        + offset
                        + ", neededBytes="
                        + length
                        + ", pageBytes="
                        + end);
    }
}
