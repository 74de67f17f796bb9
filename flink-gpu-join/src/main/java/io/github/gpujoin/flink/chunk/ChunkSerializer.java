package io.github.gpujoin.flink.chunk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import java.io.IOException;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.api.common.typeutils.TypeSerializerSnapshot;
import org.apache.flink.core.memory.DataInputView;
import org.apache.flink.core.memory.DataOutputView;

/**
 * Writes a chunk as its length, a big-endian int as Flink writes them, and its bytes.
 *
 * <p>Reading checks the length before it allocates, then the header against the array, then the
 * checksum. Chunks are immutable and so never copied. Stateless, so threads may share it.
 */
public final class ChunkSerializer extends TypeSerializer<Chunk> {

    /** Longest chunk that is read; chunks are sealed near 1 MiB, only one huge row exceeds that. */
    public static final int MAX_LENGTH_BYTES = 256 << 20;

    private static final long serialVersionUID = 1L;
    private static final int COPY_BUFFER_BYTES = 64 << 10;

    private final ChunkSchemas schemas;

    ChunkSerializer(ChunkSchemas schemas) {
        this.schemas = schemas;
    }

    @Override
    public boolean isImmutableType() {
        return true;
    }

    @Override
    public TypeSerializer<Chunk> duplicate() {
        return this;
    }

    /** A chunk without rows. */
    @Override
    public Chunk createInstance() {
        return new ChunkBuilder(schemas.schemas().get(0), 1)
                .seal(schemas.firstDimension(), ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    @Override
    public Chunk copy(Chunk from) {
        return from;
    }

    @Override
    public Chunk copy(Chunk from, Chunk reuse) {
        return from;
    }

    @Override
    public int getLength() {
        return -1;
    }

    @Override
    public void serialize(Chunk chunk, DataOutputView target) throws IOException {
        checkLength(chunk.lengthBytes());
        target.writeInt(chunk.lengthBytes());
        target.write(chunk.bytes());
    }

    @Override
    public Chunk deserialize(DataInputView source) throws IOException {
        byte[] bytes = new byte[checkLength(source.readInt())];
        source.readFully(bytes);
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

    private static int checkLength(int lengthBytes) {
        if (lengthBytes < ChunkDescriptor.HEADER_BYTES || lengthBytes > MAX_LENGTH_BYTES) {
            throw new ChunkFormatException(
                    "a serialised chunk has a header and at most "
                            + MAX_LENGTH_BYTES
                            + " bytes: lengthBytes="
                            + lengthBytes);
        }
        return lengthBytes;
    }

    @Override
    public TypeSerializerSnapshot<Chunk> snapshotConfiguration() {
        return new ChunkSerializerSnapshot(schemas);
    }

    @Override
    public boolean equals(Object other) {
        return other instanceof ChunkSerializer that && schemas.equals(that.schemas);
    }

    @Override
    public int hashCode() {
        return schemas.hashCode();
    }
}
