// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static io.github.gpujoin.core.layout.ChunkDescriptor.DIMENSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.ENCODED;
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
import static io.github.gpujoin.core.layout.ChunkDescriptor.SCHEMA_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.UNPARTITIONED;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_OFFSET;
import static io.github.gpujoin.core.layout.ChunkDescriptor.VERSION_WITH_FLAGS;

import io.github.gpujoin.core.region.Memory;

/** Checks the header of a chunk's bytes before anything else of them is read. */
public final class ChunkHeader {

    private ChunkHeader() {}

    /**
     * Checks all fields except those that locate rows.
     *
     * @param bytes a whole chunk
     * @throws ChunkFormatException if a field is wrong
     */
    public static void check(ChunkSchema schema, byte[] bytes) {
        require(
                bytes.length >= HEADER_BYTES,
                "Chunk is shorter than its header",
                "length",
                bytes.length);
        require(
                bytes.length % 8 == 0,
                "Chunk length is not a multiple of 8",
                "length",
                bytes.length);
        int magic = intAt(bytes, MAGIC_OFFSET);
        require(magic == MAGIC, "Bytes are not a chunk, which starts with GJC1", "magic", magic);
        int version = Memory.getShort(bytes, Memory.BYTES + VERSION_OFFSET);
        require(
                version == VERSION || version == VERSION_WITH_FLAGS,
                "Chunk version is unknown; this release reads 1 and 2",
                "version",
                version);
        int header = Memory.getShort(bytes, Memory.BYTES + HEADER_LENGTH_OFFSET);
        require(
                header == HEADER_BYTES,
                "Chunk header does not have 64 bytes",
                "headerLength",
                header);
        int length = intAt(bytes, LENGTH_OFFSET);
        require(
                length == bytes.length,
                "Chunk length differs from the number of bytes",
                "lengthBytes",
                length);
        int fingerprint = intAt(bytes, SCHEMA_OFFSET);
        if (fingerprint != schema.fingerprint()) {
            throw new ChunkFormatException(
                    "Chunk was written with another schema: schema="
                            + schema
                            + ", fingerprint="
                            + schema.fingerprint()
                            + ", schemaFingerprint="
                            + fingerprint);
        }
        int dimension = Memory.getShort(bytes, Memory.BYTES + DIMENSION_OFFSET);
        require(
                dimension >= FACTS,
                "Chunk has a negative dimension number",
                "dimension",
                dimension);
        int partition = intAt(bytes, PARTITION_OFFSET);
        require(
                partition >= UNPARTITIONED,
                "Chunk has a negative partition number",
                "partition",
                partition);
        int flags = Memory.getShort(bytes, Memory.BYTES + FLAGS_OFFSET);
        if (version == VERSION) {
            require(flags == 0, "Chunk of version 1 has flags", "flags", flags);
        } else {
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
        long reserved = Memory.getLong(bytes, Memory.BYTES + RESERVED_OFFSET);
        require(
                reserved == 0,
                "Reserved word of the chunk header is not zero",
                "reserved",
                reserved);
    }

    /** Whether the fixed-width columns are encoded. The bytes contain at least a header. */
    public static boolean isEncoded(byte[] bytes) {
        return (flags(bytes) & ENCODED) != 0;
    }

    static int flags(byte[] bytes) {
        return Memory.getShort(bytes, Memory.BYTES + FLAGS_OFFSET);
    }

    private static int intAt(byte[] bytes, int offset) {
        return Memory.getInt(bytes, Memory.BYTES + offset);
    }

    static void require(boolean holds, String fault, String name, long value) {
        if (!holds) {
            throw new ChunkFormatException(fault + ": " + name + "=" + value);
        }
    }
}
