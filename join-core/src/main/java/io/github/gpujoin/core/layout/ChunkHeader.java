// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.CHECKSUM_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.DIMENSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.ENCODED;
import static io.github.gpujoin.core.layout.ChunkDescriptor.EPOCH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.FACTS;
import static io.github.gpujoin.core.layout.ChunkDescriptor.FLAGS_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.HEADER_BYTES;
import static io.github.gpujoin.core.layout.ChunkDescriptor.HEADER_LENGTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.LENGTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MAGIC;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MAGIC_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.MANY_PARTITIONS;
import static io.github.gpujoin.core.layout.ChunkDescriptor.PARTITION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.RESERVED_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.ROW_COUNT_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.SCHEMA_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.SEQUENCE_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.UNPARTITIONED;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VARIABLE_WIDTH_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_WITH_FLAGS;

import io.github.gpujoin.core.region.Memory;
import org.jspecify.annotations.Nullable;

/**
 * The fields of a chunk's header, checked before anything else of the chunk is read.
 *
 * @param lengthBytes of the whole chunk
 * @param rowCount not checked
 * @param variableWidthOffset not checked
 */
public record ChunkHeader(
        int lengthBytes,
        int rowCount,
        int dimension,
        int flags,
        int partition,
        int variableWidthOffset,
        long epoch,
        long sequence) {

    /**
     * Reads the header of a chunk in an array.
     *
     * @param bytes a whole chunk
     * @throws ChunkFormatException if a field is wrong, except those that locate rows
     */
    public static ChunkHeader read(ChunkSchema schema, byte[] bytes) {
        return read(schema, bytes, Memory.BYTES, bytes.length);
    }

    /**
     * Reads the header of a chunk. A header in native memory is read once, into a private copy, and
     * checked there: another process may write to the memory.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     * @param lengthBytes of the whole chunk
     * @throws ChunkFormatException if a field is wrong, except those that locate rows
     */
    public static ChunkHeader read(
            ChunkSchema schema, byte @Nullable [] base, long start, int lengthBytes) {
        require(
                lengthBytes >= HEADER_BYTES,
                "Chunk is shorter than its header",
                "length",
                lengthBytes);
        require(lengthBytes % 8 == 0, "Chunk length is not a multiple of 8", "length", lengthBytes);
        if (base != null) {
            return checked(schema, base, start, lengthBytes);
        }
        byte[] copy = new byte[HEADER_BYTES];
        Memory.copy(null, start, copy, Memory.BYTES, HEADER_BYTES);
        return checked(schema, copy, Memory.BYTES, lengthBytes);
    }

    private static ChunkHeader checked(
            ChunkSchema schema, byte[] base, long start, int lengthBytes) {
        int magic = Memory.getInt(base, start + MAGIC_OFFSET);
        require(magic == MAGIC, "Bytes are not a chunk, which starts with GJC1", "magic", magic);
        int version = Memory.getShort(base, start + VERSION_OFFSET);
        require(
                version == VERSION || version == VERSION_WITH_FLAGS,
                "Chunk version is unknown; this release reads 1 and 2",
                "version",
                version);
        int headerLength = Memory.getShort(base, start + HEADER_LENGTH_OFFSET);
        require(
                headerLength == HEADER_BYTES,
                "Chunk header does not have 64 bytes",
                "headerLength",
                headerLength);
        ChunkHeader header =
                new ChunkHeader(
                        Memory.getInt(base, start + LENGTH_OFFSET),
                        Memory.getInt(base, start + ROW_COUNT_OFFSET),
                        Memory.getShort(base, start + DIMENSION_OFFSET),
                        Memory.getShort(base, start + FLAGS_OFFSET),
                        Memory.getInt(base, start + PARTITION_OFFSET),
                        Memory.getInt(base, start + VARIABLE_WIDTH_OFFSET),
                        Memory.getLong(base, start + EPOCH_OFFSET),
                        Memory.getLong(base, start + SEQUENCE_OFFSET));
        require(
                header.lengthBytes == lengthBytes,
                "Chunk length differs from the number of bytes",
                "lengthBytes",
                header.lengthBytes);
        checkSchema(schema, Memory.getInt(base, start + SCHEMA_OFFSET));
        header.checkRows(version);
        long reserved = Memory.getLong(base, start + RESERVED_OFFSET);
        require(
                reserved == 0,
                "Reserved word of the chunk header is not zero",
                "reserved",
                reserved);
        return header;
    }

    private static void checkSchema(ChunkSchema schema, int fingerprint) {
        if (fingerprint != schema.fingerprint()) {
            throw new ChunkFormatException(
                    "Chunk was written with another schema: schema="
                            + schema
                            + ", fingerprint="
                            + schema.fingerprint()
                            + ", schemaFingerprint="
                            + fingerprint);
        }
    }

    /** Checks the fields that describe all rows. */
    private void checkRows(int version) {
        require(
                dimension >= FACTS,
                "Chunk has a negative dimension number",
                "dimension",
                dimension);
        require(
                partition >= UNPARTITIONED,
                "Chunk has a negative partition number",
                "partition",
                partition);
        if (version == VERSION) {
            require(flags == 0, "Chunk of version 1 has flags", "flags", flags);
            return;
        }
        require(
                flags > 0 && (flags & ~(MANY_PARTITIONS | ENCODED)) == 0,
                "Chunk of version 2 has unknown flags",
                "flags",
                flags);
        require(
                (flags & MANY_PARTITIONS) == 0 || partition >= 0,
                "Chunk of many partitions names none of its receiver",
                "partition",
                partition);
    }

    /** Whether the fixed-width columns are encoded. */
    public boolean isEncoded() {
        return (flags & ENCODED) != 0;
    }

    /** Whether the fixed-width columns are encoded. The bytes contain at least a header. */
    public static boolean isEncoded(byte[] bytes) {
        return (Memory.getShort(bytes, Memory.BYTES + FLAGS_OFFSET) & ENCODED) != 0;
    }

    /**
     * Writes the header of a chunk whose checksum is not computed.
     *
     * @param base byte array, or null for native memory, as in {@link Memory}
     */
    public void writeTo(byte @Nullable [] base, long start, ChunkSchema schema) {
        int version = flags == 0 ? VERSION : VERSION_WITH_FLAGS;
        Memory.putInt(base, start + MAGIC_OFFSET, MAGIC);
        Memory.putShort(base, start + VERSION_OFFSET, (short) version);
        Memory.putShort(base, start + HEADER_LENGTH_OFFSET, (short) HEADER_BYTES);
        Memory.putInt(base, start + LENGTH_OFFSET, lengthBytes);
        Memory.putInt(base, start + ROW_COUNT_OFFSET, rowCount);
        Memory.putInt(base, start + SCHEMA_OFFSET, schema.fingerprint());
        Memory.putShort(base, start + DIMENSION_OFFSET, (short) dimension);
        Memory.putShort(base, start + FLAGS_OFFSET, (short) flags);
        Memory.putInt(base, start + PARTITION_OFFSET, partition);
        Memory.putInt(base, start + VARIABLE_WIDTH_OFFSET, variableWidthOffset);
        Memory.putLong(base, start + EPOCH_OFFSET, epoch);
        Memory.putLong(base, start + SEQUENCE_OFFSET, sequence);
        Memory.putLong(base, start + CHECKSUM_OFFSET, ChunkChecksum.NONE);
        Memory.putLong(base, start + RESERVED_OFFSET, 0);
    }

    /** Returns the header of the same rows in another radix partition. */
    ChunkHeader withPartition(int other) {
        return new ChunkHeader(
                lengthBytes,
                rowCount,
                dimension,
                flags,
                other,
                variableWidthOffset,
                epoch,
                sequence);
    }

    static void require(boolean holds, String fault, String name, long value) {
        if (!holds) {
            throw new ChunkFormatException(fault + ": " + name + "=" + value);
        }
    }
}
