// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.record;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.management.ThreadMXBean;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.flink.api.data.ChunkTypeInfo;
import java.io.EOFException;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.flink.api.common.typeutils.SerializerTestBase;
import org.apache.flink.api.common.typeutils.TypeSerializer;
import org.apache.flink.core.memory.DataInputDeserializer;
import org.apache.flink.core.memory.DataOutputSerializer;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.testutils.DeeplyEqualsChecker;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkSerializerTest extends SerializerTestBase<Chunk> {

    static final ChunkSchema KEYS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    static final ChunkSchema NAMES =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32),
                    Column.of("price", ColumnType.FLOAT64),
                    Column.nullable("name", ColumnType.STRING));

    ChunkSerializerTest() {
        super(
                new DeeplyEqualsChecker()
                        .withCustomCheck(
                                (one, two) -> one instanceof Chunk && two instanceof Chunk,
                                (one, two, checker) ->
                                        Arrays.equals(
                                                ((Chunk) one).bytes(), ((Chunk) two).bytes())));
    }

    static Chunk chunkOfKeys(int rows, int dimension) {
        ChunkBuilder builder = new ChunkBuilder(KEYS, 1 << 20);
        for (int row = 0; row < rows; row++) {
            builder.putLong(0, row * 7L);
            builder.endRow();
        }
        return builder.seal(dimension, 3, 5, 9);
    }

    static Chunk chunkOfNames(int rows, int dimension) {
        ChunkBuilder builder = new ChunkBuilder(NAMES, 1 << 20);
        for (int row = 0; row < rows; row++) {
            builder.putInt(0, -row);
            builder.putDouble(1, row / 3.0);
            if (row % 4 == 0) {
                builder.addNull();
            } else {
                builder.addString("näme-" + row);
            }
            builder.endRow();
        }
        return builder.seal(dimension, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    @Override
    protected TypeSerializer<Chunk> createSerializer() {
        return serializer(ChunkTypeInfo.of(NAMES));
    }

    private static TypeSerializer<Chunk> serializer(ChunkTypeInfo type) {
        return type.createSerializer(null);
    }

    @Override
    protected int getLength() {
        return -1;
    }

    @Override
    protected Class<Chunk> getTypeClass() {
        return Chunk.class;
    }

    @Override
    protected Chunk[] getTestData() {
        return new Chunk[] {
            chunkOfNames(0, 0), chunkOfNames(1, 1), chunkOfNames(1000, ChunkDescriptor.FACTS)
        };
    }

    @Test
    void shouldReadEncodedChunksWithAnySerializer() throws IOException {
        Chunk chunk = chunkOfKeys(5000, 0);
        TypeSerializer<Chunk> encoding = serializer(ChunkTypeInfo.of(KEYS).withEncoding(true));
        byte[] written = written(encoding, chunk);

        Chunk read =
                serializer(ChunkTypeInfo.of(KEYS)).deserialize(new DataInputDeserializer(written));

        assertThat(written).hasSizeLessThan(chunk.lengthBytes() / 50);
        assertThat(read).isEqualTo(chunk);
        assertThat(written(serializer(ChunkTypeInfo.of(KEYS)), read))
                .as("build rows are decoded")
                .hasSize(4 + chunk.lengthBytes());
        assertThat(encoding.duplicate()).isNotSameAs(encoding).isEqualTo(encoding);
    }

    @Test
    void shouldLeaveFactsEncoded() throws IOException {
        Chunk chunk = chunkOfKeys(5000, ChunkDescriptor.FACTS);
        byte[] written = written(serializer(ChunkTypeInfo.of(KEYS).withEncoding(true)), chunk);
        TypeSerializer<Chunk> plain = serializer(ChunkTypeInfo.of(KEYS));

        Chunk read = plain.deserialize(new DataInputDeserializer(written));

        assertThat(read).isInstanceOf(EncodedChunk.class);
        assertThat(written(plain, read)).isEqualTo(written);
        assertThat(read.withPartition(chunk.partition())).isEqualTo(chunk);
    }

    @Test
    void shouldReadTheChunkThatWasWritten() throws IOException {
        Chunk chunk = chunkOfNames(100, 2);
        byte[] written = written(createSerializer(), chunk);

        Chunk read = createSerializer().deserialize(new DataInputDeserializer(written));

        assertThat(written).hasSize(4 + chunk.lengthBytes());
        assertThat(read.bytes()).isEqualTo(chunk.bytes());
        assertThat(read.schema()).isEqualTo(NAMES);
    }

    @Test
    void shouldFindTheSchemaOfADimensionInTheHeader() throws IOException {
        TypeSerializer<Chunk> serializer =
                serializer(ChunkTypeInfo.ofDimensions(List.of(KEYS, NAMES)));

        assertThat(roundTrip(serializer, chunkOfKeys(10, 0)).schema()).isEqualTo(KEYS);
        assertThat(roundTrip(serializer, chunkOfNames(10, 1)).schema()).isEqualTo(NAMES);
    }

    @Test
    void shouldFindTheSchemaOfFactsAmongThoseOfDimensions() throws IOException {
        TypeSerializer<Chunk> serializer =
                serializer(ChunkTypeInfo.ofFactsAndDimensions(KEYS, List.of(KEYS, NAMES)));

        Chunk facts = roundTrip(serializer, chunkOfKeys(10, ChunkDescriptor.FACTS));
        assertThat(facts.schema()).isEqualTo(KEYS);
        assertThat(roundTrip(serializer, chunkOfNames(10, 1)).schema()).isEqualTo(NAMES);
        byte[] written = written(serializer, chunkOfNames(10, 2));
        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(written)))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageEndingWith("dimension=2, dimensions=2");
    }

    @ParameterizedTest
    @ValueSource(ints = {-1, 2})
    void shouldRejectAChunkOfNoDimension(int dimension) throws IOException {
        TypeSerializer<Chunk> serializer =
                serializer(ChunkTypeInfo.ofDimensions(List.of(KEYS, NAMES)));
        byte[] written = written(serializer, chunkOfKeys(10, dimension));

        assertThatThrownBy(() -> serializer.deserialize(new DataInputDeserializer(written)))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessage(
                        "A build chunk names an unknown dimension: dimension="
                                + dimension
                                + ", dimensions=2");
    }

    @Test
    void shouldRejectToWriteAChunkOfAnotherSchema() {
        assertThatThrownBy(() -> written(createSerializer(), chunkOfKeys(10, 0)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessage(
                        "A chunk has another schema than its stream: expected="
                                + NAMES
                                + ", schema="
                                + KEYS
                                + ".\nDeclare the stream with .returns(ChunkTypeInfo.of(schema)) of its chunks.");
    }

    @Test
    void shouldRejectAChunkOfAnotherSchema() throws IOException {
        byte[] written = written(serializer(ChunkTypeInfo.of(KEYS)), chunkOfKeys(10, 0));

        assertThatThrownBy(() -> createSerializer().deserialize(new DataInputDeserializer(written)))
                .isInstanceOf(SuppressRestartsException.class)
                .hasStackTraceContaining("Chunk in flight has other columns")
                .hasStackTraceContaining("from a savepoint or an aligned checkpoint");
    }

    @ParameterizedTest
    @ValueSource(ints = {Integer.MIN_VALUE, -1, 0, 63, (256 << 20) + 1, Integer.MAX_VALUE})
    void shouldRejectALengthBeforeAllocating(int lengthBytes) throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(8);
        out.writeInt(lengthBytes);
        DataInputDeserializer in = new DataInputDeserializer(out.getCopyOfBuffer());

        assertThatThrownBy(() -> createSerializer().deserialize(in))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageContaining("lengthBytes=" + lengthBytes + ",");
    }

    @Test
    void shouldRejectADamagedLengthWithoutAllocatingIt() throws IOException {
        byte[] written = written(createSerializer(), chunkOfNames(20, 0));
        DataOutputSerializer out = new DataOutputSerializer(8);
        out.writeInt(ChunkSerializer.MAX_LENGTH_BYTES);
        System.arraycopy(out.getSharedBuffer(), 0, written, 0, Integer.BYTES);
        long allocatedBytes =
                allocatedWhile(
                        () ->
                                assertThatThrownBy(() -> read(written))
                                        .isInstanceOf(ChunkFormatException.class)
                                        .hasMessageStartingWith(
                                                "Serialized chunk is damaged: lengthBytes="));
        assertThat(allocatedBytes).isLessThan(8 << 20);
    }

    /** Prefix and header agree, and the bytes end before that length. */
    @Test
    void shouldAllocateAsBytesArrive() throws IOException {
        byte[] written = written(createSerializer(), chunkOfNames(20, 0));
        DataOutputSerializer out = new DataOutputSerializer(8);
        out.writeInt(ChunkSerializer.MAX_LENGTH_BYTES);
        System.arraycopy(out.getSharedBuffer(), 0, written, 0, Integer.BYTES);
        Memory.putInt(
                written,
                Memory.BYTES + Integer.BYTES + ChunkDescriptor.LENGTH_OFFSET,
                ChunkSerializer.MAX_LENGTH_BYTES);
        long allocatedBytes =
                allocatedWhile(
                        () ->
                                assertThatThrownBy(() -> read(written))
                                        .isInstanceOf(EOFException.class));
        assertThat(allocatedBytes).isLessThan(8 << 20);
    }

    private Chunk read(byte[] written) throws IOException {
        return createSerializer().deserialize(new DataInputDeserializer(written));
    }

    private static long allocatedWhile(Runnable reading) {
        ThreadMXBean threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        long before = threads.getCurrentThreadAllocatedBytes();
        reading.run();
        return threads.getCurrentThreadAllocatedBytes() - before;
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3})
    void shouldRejectAnyFlippedBit(long seed) throws IOException {
        Random random = new Random(seed);
        byte[] written = written(createSerializer(), chunkOfNames(20, 0));
        for (int i = 0; i < 500; i++) {
            byte[] flipped = written.clone();
            int bit = 32 + random.nextInt(8 * written.length - 32);
            flipped[bit / 8] ^= (byte) (1 << bit % 8);

            assertThatThrownBy(
                            () ->
                                    createSerializer()
                                            .deserialize(new DataInputDeserializer(flipped)))
                    .as("bit %d", bit)
                    .isInstanceOf(ChunkFormatException.class);
        }
    }

    @Test
    void shouldRejectATruncatedStream() throws IOException {
        byte[] written = written(createSerializer(), chunkOfNames(20, 0));
        DataInputDeserializer in = new DataInputDeserializer(written, 0, written.length - 1);

        assertThatThrownBy(() -> createSerializer().deserialize(in))
                .isInstanceOf(EOFException.class);
    }

    @Test
    void shouldCopyViewsOfChunksLongerThanItsBuffer() throws IOException {
        Chunk chunk = chunkOfKeys(30_000, 0);
        TypeSerializer<Chunk> serializer = serializer(ChunkTypeInfo.of(KEYS));
        byte[] written = written(serializer, chunk);
        DataOutputSerializer out = new DataOutputSerializer(16);

        serializer.copy(new DataInputDeserializer(written), out);

        assertThat(out.getCopyOfBuffer()).isEqualTo(written);
    }

    @Test
    void shouldCopyAChunkWhoseMemoryIsReused() {
        ChunkSchema schema = ChunkSchema.of(Column.of("n", ColumnType.INT64));
        ChunkBuilder builder = new ChunkBuilder(schema, 8);
        builder.putLong(0, 7);
        builder.endRow();
        Chunk chunk = builder.sealTransient(ChunkDescriptor.FACTS, 0, 0, 0);
        assertThat(chunk.isTransient()).isTrue();
        Chunk copy = createSerializer().copy(chunk);
        builder.putLong(0, 8);
        assertThat(copy.isTransient()).isFalse();
        assertThat(copy.getLong(0, 0)).isEqualTo(7);
    }

    @Test
    void shouldNotCopyAChunkThatIsNotTransient() {
        Chunk chunk = chunkOfNames(3, 0);

        assertThat(createSerializer().copy(chunk)).isSameAs(chunk);
        assertThat(createSerializer().copy(chunk, chunkOfNames(1, 0))).isSameAs(chunk);
        assertThat(createSerializer().isImmutableType())
                .as("Flink copies elements that it keeps, as some are transient")
                .isFalse();
    }

    private static Chunk roundTrip(TypeSerializer<Chunk> serializer, Chunk chunk)
            throws IOException {
        return serializer.deserialize(new DataInputDeserializer(written(serializer, chunk)));
    }

    private static byte[] written(TypeSerializer<Chunk> serializer, Chunk chunk)
            throws IOException {
        DataOutputSerializer out = new DataOutputSerializer(16);
        serializer.serialize(chunk, out);
        return out.getCopyOfBuffer();
    }
}
