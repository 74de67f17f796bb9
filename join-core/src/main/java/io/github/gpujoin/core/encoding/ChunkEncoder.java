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
import java.util.Map;

/**
 * Encodes the chunks of one sender or log. Not thread-safe.
 *
 * <p>Columns of one stream resemble each other from chunk to chunk. So every {@value
 * #SELECTION_INTERVAL}th chunk of a schema selects the shortest plan of each column, and the chunks
 * between use it. A chunk that would lose less than one eighth of its bytes stays plain; if a
 * selecting chunk does, the next ones are not measured at all.
 *
 * <p>Source: cascaded compression of Gao and Sakharnykh, "Scaling Joins to a Thousand GPUs",
 * section 4. Unlike theirs, every tile of 1,024 rows decodes alone.
 */
public final class ChunkEncoder {

    /** Chunks from one selection of plans to the next. */
    static final int SELECTION_INTERVAL = 64;

    /** A chunk is encoded if that leaves at most this share of its bytes. */
    private static final double MAX_SHARE = 7.0 / 8;

    /** A body this much longer than at its selection, a row, makes the next chunk select again. */
    private static final double MAX_GROWTH = 1.25;

    private static final class Plans {
        private final EncodingPlan[] columns;
        private final double[] rowBytes;
        private boolean paysOff;
        private int chunksToSelection;

        Plans(int columnCount) {
            columns = new EncodingPlan[columnCount];
            rowBytes = new double[columnCount];
        }
    }

    private final Map<ChunkSchema, Plans> plansOfSchemas = new HashMap<>();
    private final ColumnEncoder encoder = new ColumnEncoder();
    private byte[] bodies = new byte[0];

    /**
     * Returns the chunk as it is sent or stored: with encoded columns if that makes it clearly
     * shorter, else as {@link Chunk#bytes}.
     *
     * @return bytes with a checksum, which a {@link ChunkDecoder} reads; the caller must not modify
     *     them
     */
    public byte[] encode(Chunk chunk) {
        ChunkSchema schema = chunk.schema();
        Plans plans = plansOfSchemas.computeIfAbsent(schema, added -> new Plans(added.size()));
        boolean selects = plans.chunksToSelection == 0;
        plans.chunksToSelection = selects ? SELECTION_INTERVAL - 1 : plans.chunksToSelection - 1;
        if (chunk.rowCount() == 0 || schema.fixedRowBytes() == 0 || !selects && !plans.paysOff) {
            return chunk.bytes();
        }
        byte[] encoded = encode(chunk, plans, selects);
        boolean paysOff = encoded.length <= MAX_SHARE * chunk.lengthBytes();
        if (selects) {
            plans.paysOff = paysOff;
        }
        return paysOff ? encoded : chunk.bytes();
    }

    private byte[] encode(Chunk chunk, Plans plans, boolean selects) {
        ChunkSchema schema = chunk.schema();
        int rows = chunk.rowCount();
        int end = ChunkDescriptor.HEADER_BYTES;
        for (int column = 0; column < schema.size(); column++) {
            end += schema.column(column).isFixed() ? EncodedColumnDescriptor.ENTRY_BYTES : 0;
        }
        int entry = ChunkDescriptor.HEADER_BYTES;
        reserve(entry, end);
        for (int column = 0; column < schema.size(); column++) {
            if (!schema.column(column).isFixed()) {
                continue;
            }
            if (selects) {
                encoder.load(chunk, column);
                plans.columns[column] = encoder.select();
                plans.rowBytes[column] = (double) encoder.bodyBytes() / rows;
            } else {
                encoder.load(chunk, column, plans.columns[column]);
                if (encoder.bodyBytes() > MAX_GROWTH * plans.rowBytes[column] * rows) {
                    plans.chunksToSelection = 0;
                }
            }
            int bodyBytes = (int) encoder.bodyBytes();
            reserve(end, (long) end + bodyBytes);
            encoder.write(bodies, entry, end);
            entry += EncodedColumnDescriptor.ENTRY_BYTES;
            end += bodyBytes;
        }
        return withHeader(chunk, end);
    }

    /** Clears the bytes of a body, since packing needs zeros. */
    private void reserve(int from, long to) {
        if (to > bodies.length) {
            bodies = Arrays.copyOf(bodies, (int) Math.min(Integer.MAX_VALUE - 64, 2 * to));
        }
        Arrays.fill(bodies, from, (int) to, (byte) 0);
    }

    /** Returns header, entries and bodies, then the chunk's variable-width section. */
    private byte[] withHeader(Chunk chunk, int bodiesEnd) {
        byte[] source = chunk.array();
        long header = Memory.BYTES;
        int variableWidth = Memory.getInt(source, header + ChunkDescriptor.VARIABLE_WIDTH_OFFSET);
        int variableWidthBytes = variableWidth == 0 ? 0 : source.length - variableWidth;
        byte[] bytes = Arrays.copyOf(bodies, bodiesEnd + variableWidthBytes);
        System.arraycopy(source, 0, bytes, 0, ChunkDescriptor.HEADER_BYTES);
        if (variableWidth > 0) {
            System.arraycopy(source, variableWidth, bytes, bodiesEnd, variableWidthBytes);
            Memory.putInt(bytes, header + ChunkDescriptor.VARIABLE_WIDTH_OFFSET, bodiesEnd);
        }
        int flags = Memory.getShort(source, header + ChunkDescriptor.FLAGS_OFFSET);
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
