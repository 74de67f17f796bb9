// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.formats.parquet;

import java.nio.ByteBuffer;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Iterator;
import org.apache.parquet.bytes.ByteBufferAllocator;

/**
 * Arrays for the compressed pages of a row group, which the next row group uses again. Not
 * thread-safe.
 */
final class ReadBuffers implements ByteBufferAllocator {

    private final Deque<byte[]> free = new ArrayDeque<>();

    @Override
    public ByteBuffer allocate(int lengthBytes) {
        for (Iterator<byte[]> arrays = free.iterator(); arrays.hasNext(); ) {
            byte[] array = arrays.next();
            // A small part must not hold a large array.
            if (array.length >= lengthBytes && array.length / 2 <= lengthBytes) {
                arrays.remove();
                return ByteBuffer.wrap(array, 0, lengthBytes).slice();
            }
        }
        return ByteBuffer.allocate(lengthBytes);
    }

    @Override
    public void release(ByteBuffer buffer) {
        free.add(buffer.array());
    }

    /** Drops arrays that the current row group does not use. */
    void trim() {
        free.clear();
    }

    @Override
    public boolean isDirect() {
        return false;
    }
}
