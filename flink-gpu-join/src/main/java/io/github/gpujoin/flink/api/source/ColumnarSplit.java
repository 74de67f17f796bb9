// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.api.source;

import org.apache.flink.annotation.PublicEvolving;
import org.apache.flink.core.fs.Path;

/**
 * A part of a file.
 *
 * @param path of the file
 * @param offset of its first byte in the file
 * @param lengthBytes of the part
 * @param fileBytes length of the file when it was found
 */
@PublicEvolving
public record ColumnarSplit(Path path, long offset, long lengthBytes, long fileBytes) {

    /**
     * Returns the offset in the file after the last byte of the part.
     *
     * @return the offset
     */
    public long end() {
        return offset + lengthBytes;
    }

    /**
     * Tells whether a byte of the file lies in the part.
     *
     * @param byteOffset its offset in the file
     * @return whether it does
     */
    public boolean contains(long byteOffset) {
        return byteOffset >= offset && byteOffset < end();
    }
}
