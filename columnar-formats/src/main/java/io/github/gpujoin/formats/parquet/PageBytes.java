// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.io.IOException;
import java.util.Arrays;
import org.apache.parquet.bytes.BytesInput;
import org.apache.parquet.io.ParquetDecodingException;

/**
 * The decompressed bytes of a page, or a part of them. Eight bytes behind them are readable.
 *
 * @param start offset of the first byte
 * @param end offset after the last one
 */
record PageBytes(byte[] bytes, int start, int end) {

    static PageBytes of(BytesInput input) throws IOException {
        byte[] bytes = input.toByteArray();
        int length = bytes.length;
        return new PageBytes(Arrays.copyOf(bytes, length + Long.BYTES), 0, length);
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
