// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.hybrid;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.region.Memory;
import java.nio.ByteBuffer;

/**
 * Serializes single result rows, so that rows of different engines can be compared.
 *
 * <pre>
 *  int32 probeRow | fixed-width payload columns | int8 matched for each left-joined dimension
 *                 | int64 reference for each dimension with variable-width payload
 * </pre>
 *
 * <p>A reference is valid in one engine only; {@link #content} replaces it by the bytes it refers
 * to.
 */
final class ResultRowBytes {

    private final int dimensions;
    private final int fixedBytes;
    private final int lengthBytes;

    ResultRowBytes(JoinSpec spec) {
        ResultLayout layout = new ResultLayout(spec, 1);
        int fixed = Integer.BYTES;
        int references = 0;
        this.dimensions = spec.dimensions().size();
        for (int d = 0; d < dimensions; d++) {
            for (int p = 0; p < layout.payloadCount(d); p++) {
                fixed += layout.payloadWidth(d, p);
            }
            fixed += layout.matchedOffset(d) < 0 ? 0 : Byte.BYTES;
            references += layout.variableWidthOffset(d) < 0 ? 0 : Long.BYTES;
        }
        this.fixedBytes = fixed;
        this.lengthBytes = fixed + references;
    }

    int lengthBytes() {
        return lengthBytes;
    }

    /** Writes a row of a batch to {@code target}, from {@code offset} on. */
    void write(ResultBatch batch, int row, byte[] target, int offset) {
        ResultLayout layout = batch.layout();
        long to = Memory.BYTES + offset;
        Memory.putInt(target, to, batch.probeRow(row));
        to += Integer.BYTES;
        for (int d = 0; d < dimensions; d++) {
            for (int p = 0; p < layout.payloadCount(d); p++) {
                int width = layout.payloadWidth(d, p);
                long from = batch.payloadAddress(d, p) + (long) width * row;
                Memory.copy(null, from, target, to, width);
                to += width;
            }
            if (layout.matchedOffset(d) >= 0) {
                byte matched = Memory.getByte(null, batch.matchedAddress(d) + row);
                Memory.putByte(target, to, matched);
                to += Byte.BYTES;
            }
        }
        for (int d = 0; d < dimensions; d++) {
            if (layout.variableWidthOffset(d) >= 0) {
                Memory.putLong(
                        target, to, Memory.getLong(batch.variableWidthAddress(d) + 8L * row));
                to += Long.BYTES;
            }
        }
    }

    static int probeRow(byte[] source, int offset) {
        return Memory.getInt(source, Memory.BYTES + offset);
    }

    /**
     * Returns the row with variable-width bytes instead of references. The engine of the row must
     * still be open.
     */
    ByteBuffer content(byte[] source, int offset) {
        int variableBytes = 0;
        for (int at = fixedBytes; at < lengthBytes; at += Long.BYTES) {
            variableBytes += variableLength(reference(source, offset + at));
        }
        ByteBuffer content = ByteBuffer.allocate(fixedBytes + variableBytes);
        content.put(source, offset, fixedBytes);
        for (int at = fixedBytes; at < lengthBytes; at += Long.BYTES) {
            long reference = reference(source, offset + at);
            int length = variableLength(reference);
            long to = Memory.BYTES + content.position();
            Memory.copy(null, reference, content.array(), to, length);
            content.position(content.position() + length);
        }
        return content.flip();
    }

    private static long reference(byte[] source, int offset) {
        return Memory.getLong(source, Memory.BYTES + offset);
    }

    /**
     * Returns the bytes of variable-width columns and of their length prefix; 0 without a match.
     */
    private static int variableLength(long reference) {
        return reference == 0 ? 0 : Integer.BYTES + Memory.getInt(reference);
    }
}
