// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.region.Memory;
import java.io.IOException;
import java.util.Arrays;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.jspecify.annotations.Nullable;

/**
 * Writes a chunk as its length, a big-endian int as Flink writes them, and its bytes.
 *
 * <p>Reading checks the length, then that the chunk's own header repeats it, and allocates no more
 * than twice what has arrived: a damaged length costs no memory. Then it checks all of the header
 * against the array, and the checksum. Chunks are immutable, so they are copied only if their
 * memory is reused. A serializer that encodes has state, so each thread needs a {@linkplain
 * #duplicate duplicate}.
 */
public final class ChunkSerializer extends TypeSerializer<Chunk> {

    /** Longest chunk that is read; chunks are sealed near 1 MiB, only one huge row exceeds that. */
    public static final int MAX_LENGTH_BYTES = 256 << 20;

    private static final long serialVersionUID = 1L;
    private static final int COPY_BUFFER_BYTES = 64 << 10;

    /** Allocated at once: as long as almost all chunks are. */
    private static final int FIRST_BYTES = 1 << 20;

    private final ChunkSchemas schemas;
    private final boolean encodes;
    private transient @Nullable ChunkEncoder encoder;

    /** Serializes chunks of one of the schemas with plain columns. */
    public ChunkSerializer(ChunkSchemas schemas) {
        this(schemas, false);
    }

    /**
     * Serializes chunks of one of the schemas.
     *
     * @param encodes whether columns are encoded where that shortens a chunk; both are read
     */
    public ChunkSerializer(ChunkSchemas schemas, boolean encodes) {
        this.schemas = schemas;
        this.encodes = encodes;
    }

    /** False, as {@link Chunk#isTransient() transient} chunks are overwritten. */
    @Override
    public boolean isImmutableType() {
        return false;
    }

    @Override
    public TypeSerializer<Chunk> duplicate() {
        return encodes ? new ChunkSerializer(schemas, true) : this;
    }

    /** A chunk without rows. */
    @Override
    public Chunk createInstance() {
        return new ChunkBuilder(schemas.schemas().get(0), 1)
                .seal(schemas.firstDimension(), ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    /** Copies only what is overwritten later, because Flink's object reuse is enabled. */
    @Override
    public Chunk copy(Chunk from) {
        return from.isTransient() ? from.onHeap() : from;
    }

    @Override
    public Chunk copy(Chunk from, Chunk reuse) {
        return copy(from);
    }

    @Override
    public int getLength() {
        return -1;
    }

    /**
     * @throws IllegalArgumentException if the stream has no such schema: its declared type is not
     *     that of its chunks
     */
    @Override
    public void serialize(Chunk chunk, DataOutputView target) throws IOException {
        schemas.require(chunk.schema());
        checkLength(chunk.lengthBytes());
        byte[] bytes = bytesOf(chunk);
        target.writeInt(bytes.length);
        target.write(bytes);
    }

    private byte[] bytesOf(Chunk chunk) {
        if (!encodes) {
            return chunk.bytes();
        }
        if (encoder == null) {
            encoder = new ChunkEncoder();
        }
        return encoder.encode(chunk);
    }

    @Override
    public Chunk deserialize(DataInputView source) throws IOException {
        int lengthBytes = checkLength(source.readInt());
        byte[] bytes = new byte[Math.min(lengthBytes, FIRST_BYTES)];
        source.readFully(bytes, 0, ChunkDescriptor.HEADER_BYTES);
        checkOwnLength(bytes, lengthBytes);
        source.readFully(
                bytes, ChunkDescriptor.HEADER_BYTES, bytes.length - ChunkDescriptor.HEADER_BYTES);
        while (bytes.length < lengthBytes) {
            int arrivedBytes = bytes.length;
            bytes = Arrays.copyOf(bytes, (int) Math.min(lengthBytes, 2L * arrivedBytes));
            source.readFully(bytes, arrivedBytes, bytes.length - arrivedBytes);
        }
        if (schemas.areOther(bytes)) {
            // A restart would read the same chunk again.
            throw new SuppressRestartsException(
                    new ChunkFormatException(
                            "Chunk in flight has other columns than those of the job: %s.\nRestore the job from a savepoint or an aligned checkpoint."
                                    .formatted(schemas)));
        }
        return schemas.wrap(bytes);
    }

    @Override
    public Chunk deserialize(Chunk reuse, DataInputView source) throws IOException {
        return deserialize(source);
    }

    @Override
    public void copy(DataInputView source, DataOutputView target) throws IOException {
        int remaining = checkLength(source.readInt());
        target.writeInt(remaining);
        byte[] buffer = new byte[Math.min(remaining, COPY_BUFFER_BYTES)];
        while (remaining > 0) {
            int part = Math.min(remaining, buffer.length);
            source.readFully(buffer, 0, part);
            target.write(buffer, 0, part);
            remaining -= part;
        }
    }

    private static void checkOwnLength(byte[] header, int lengthBytes) {
        int ownLengthBytes = Memory.getInt(header, Memory.BYTES + ChunkDescriptor.LENGTH_OFFSET);
        if (ownLengthBytes != lengthBytes) {
            throw new ChunkFormatException(
                    "Serialized chunk is damaged: lengthBytes=%d, headerLengthBytes=%d.\nRestart the job; if it recurs, restore an earlier snapshot."
                            .formatted(lengthBytes, ownLengthBytes));
        }
    }

    private static int checkLength(int lengthBytes) {
        if (lengthBytes < ChunkDescriptor.HEADER_BYTES || lengthBytes > MAX_LENGTH_BYTES) {
            throw new ChunkFormatException(
                    "Serialized chunk is damaged: lengthBytes=%d, minimum=%d, maximum=%d.\nRestart the job; if it recurs, restore an earlier snapshot."
                            .formatted(
                                    lengthBytes, ChunkDescriptor.HEADER_BYTES, MAX_LENGTH_BYTES));
        }
        return lengthBytes;
    }

    @Override
    public TypeSerializerSnapshot<Chunk> snapshotConfiguration() {
        return new ChunkSerializerSnapshot(schemas);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChunkSerializer that
                && schemas.equals(that.schemas)
                && encodes == that.encodes;
    }

    @Override
    public int hashCode() {
        return schemas.hashCode();
    }
}
