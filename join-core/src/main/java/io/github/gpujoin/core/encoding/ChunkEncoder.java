// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.region.Memory;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Encodes the chunks of one sender or log, by the rules of {@link ColumnsEncoder}. Not thread-safe.
 *
 * <p>Source: cascaded compression of Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs",
 * section 4. Unlike theirs, every tile of 1,024 rows decodes alone.
 */
public final class ChunkEncoder {

    private final Map<ChunkSchema, ColumnsEncoder> encoders = new HashMap<>();

    /**
     * Returns the chunk as it is sent or stored: with encoded columns if that makes it clearly
     * shorter, else as {@link Chunk#bytes}.
     *
     * @return bytes with a checksum, which a {@link ChunkDecoder} reads; the caller must not modify
     *     them
     */
    public byte[] encode(Chunk chunk) {
        if (chunk.rowCount() == 0 || chunk instanceof EncodedChunk) {
            return chunk.bytes();
        }
        ColumnsEncoder columns =
                encoders.computeIfAbsent(
                        chunk.schema(), added -> new ColumnsEncoder(fixedColumns(added)));
        int end =
                columns.encode(
                        chunk, 0, chunk.rowCount(), chunk.lengthBytes(), variableWidthBytes(chunk));
        return end == 0 ? chunk.bytes() : withHeader(chunk, columns.bytes(), end);
    }

    private static List<Integer> fixedColumns(ChunkSchema schema) {
        return IntStream.range(0, schema.size())
                .filter(column -> schema.column(column).isFixed())
                .boxed()
                .toList();
    }

    private static int variableWidthBytes(Chunk chunk) {
        int offset = chunk.variableWidthOffset();
        return offset == 0 ? 0 : chunk.lengthBytes() - offset;
    }

    /** Returns header, entries and bodies, then the chunk's variable-width section. */
    private static byte[] withHeader(Chunk chunk, byte[] columns, int bodiesEnd) {
        byte @Nullable [] source = chunk.array();
        long header = Memory.BYTES;
        int variableWidthBytes = variableWidthBytes(chunk);
        byte[] bytes = Arrays.copyOf(columns, bodiesEnd + variableWidthBytes);
        Memory.copy(source, chunk.start(), bytes, header, ChunkDescriptor.HEADER_BYTES);
        if (variableWidthBytes > 0) {
            long from = chunk.start() + chunk.variableWidthOffset();
            Memory.copy(source, from, bytes, header + bodiesEnd, variableWidthBytes);
            Memory.putInt(bytes, header + ChunkDescriptor.VARIABLE_WIDTH_OFFSET, bodiesEnd);
        }
        int flags = Memory.getShort(bytes, header + ChunkDescriptor.FLAGS_OFFSET);
        Memory.putShort(
                bytes,
                header + ChunkDescriptor.VERSION_OFFSET,
                (short) ChunkDescriptor.VERSION_WITH_FLAGS);
        Memory.putShort(
                bytes,
                header + ChunkDescriptor.FLAGS_OFFSET,
                (short) (flags | ChunkDescriptor.ENCODED));
        Memory.putInt(bytes, header + ChunkDescriptor.LENGTH_OFFSET, bytes.length);
        Memory.putLong(
                bytes,
                header + ChunkDescriptor.CHECKSUM_OFFSET,
                ChunkChecksum.of(bytes, header, bytes.length));
        return bytes;
    }
}
