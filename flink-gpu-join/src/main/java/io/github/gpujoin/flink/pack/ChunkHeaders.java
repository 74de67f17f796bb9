// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.region.Memory;

/** Replaces the header of a chunk. */
final class ChunkHeaders {

    private ChunkHeaders() {}

    /**
     * Returns the chunk if it has that dimension and partition, whatever its sequence, else a copy.
     */
    static Chunk with(Chunk chunk, int dimension, int partition, long sequence) {
        if (chunk.dimension() == dimension && chunk.partition() == partition) {
            return chunk;
        }
        byte[] bytes = chunk.bytes().clone();
        long at = Memory.BYTES;
        // The checksum is a sum over words, so only the header's share of it changes.
        long checksum = Memory.getLong(bytes, at + ChunkDescriptor.CHECKSUM_OFFSET);
        checksum -= ChunkChecksum.of(bytes, at, ChunkDescriptor.HEADER_BYTES);
        Memory.putShort(bytes, at + ChunkDescriptor.DIMENSION_OFFSET, (short) dimension);
        Memory.putInt(bytes, at + ChunkDescriptor.PARTITION_OFFSET, partition);
        Memory.putLong(bytes, at + ChunkDescriptor.SEQUENCE_OFFSET, sequence);
        checksum += ChunkChecksum.of(bytes, at, ChunkDescriptor.HEADER_BYTES);
        Memory.putLong(bytes, at + ChunkDescriptor.CHECKSUM_OFFSET, checksum);
        return ChunkDecoder.open(chunk.schema(), bytes);
    }
}
