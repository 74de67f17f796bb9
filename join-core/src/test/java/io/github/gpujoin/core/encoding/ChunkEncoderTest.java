// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.encoding;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkChecksum;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkFormatException;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkEncoderTest {

    private static final int ROWS = 16_384;

    /** Header of a chunk and entry of its column. */
    private static final int HEADERS_BYTES =
            ChunkDescriptor.HEADER_BYTES + EncodedColumnDescriptor.ENTRY_BYTES;

    private static final List<ColumnType> FIXED =
            Arrays.stream(ColumnType.values()).filter(ColumnType::isFixedWidth).toList();

    private final ChunkEncoder encoder = new ChunkEncoder();

    @ParameterizedTest
    @EnumSource(ColumnShape.class)
    void shouldDecodeWhatItEncodes(ColumnShape shape) {
        for (ColumnType type : FIXED) {
            for (int rows : new int[] {1, 2, 1023, 1024, 1025, 5000}) {
                for (Chunk chunk : shape.chunks(type, 3, rows, rows)) {
                    Chunk decoded = ChunkDecoder.decode(chunk.schema(), encoder.encode(chunk));
                    assertThat(decoded).as("%s %s %s", shape, type, rows).isEqualTo(chunk);
                }
            }
        }
    }

    /** Every plan, not only the selected one. */
    @ParameterizedTest
    @EnumSource(ColumnShape.class)
    void shouldDecodeEveryPlan(ColumnShape shape) {
        ColumnEncoder columns = new ColumnEncoder();
        TileScratch scratch = new TileScratch();
        for (ColumnType type : FIXED) {
            for (int rows : new int[] {1, 1024, 3000}) {
                Chunk chunk = shape.chunks(type, 1, rows, 7).get(0);
                byte[] plain = new byte[type.widthBytes() * rows];
                Memory.copy(chunk.array(), chunk.columnStart(0), plain, Memory.BYTES, plain.length);
                for (EncodingPlan plan : EncodingPlan.ALL) {
                    columns.load(chunk, 0, 0, chunk.rowCount(), plan);
                    byte[] target = new byte[32 + (int) columns.bodyBytes()];
                    columns.write(target, 0, 32);
                    EncodedColumn column =
                            new EncodedColumn(
                                    target,
                                    Memory.BYTES,
                                    target.length,
                                    0,
                                    32,
                                    rows,
                                    type.widthBytes());
                    assertThat(column.bodyEnd()).isEqualTo(target.length);
                    byte[] values = new byte[plain.length];
                    column.decode(values, Memory.BYTES, scratch);
                    assertThat(values).as("%s %s", type, plan).isEqualTo(plain);
                }
            }
        }
    }

    @ParameterizedTest
    @EnumSource(ColumnShape.class)
    void shouldStayWithinFivePercentOfTheShortestPlan(ColumnShape shape) {
        // A sequence overflows INT16 in some chunks only, which is no stream of similar columns.
        for (ColumnType type : List.of(ColumnType.INT8, ColumnType.INT32, ColumnType.INT64)) {
            ColumnEncoder columns = new ColumnEncoder();
            long encodedBytes = 0;
            long shortestBytes = 0;
            long plainBytes = 0;
            int chunkCount = 2 * ColumnsEncoder.SELECTION_INTERVAL;
            for (Chunk chunk : shape.chunks(type, chunkCount, ROWS, 3)) {
                encodedBytes += encoder.encode(chunk).length;
                columns.load(chunk, 0, 0, chunk.rowCount());
                shortestBytes +=
                        EncodingPlan.ALL.stream().mapToLong(columns::bodyBytes).min().orElseThrow();
                plainBytes += chunk.lengthBytes();
            }
            // Encoding that saves less than one eighth is left out.
            double limit =
                    shortestBytes > plainBytes * 6 / 7
                            ? plainBytes
                            : 1.05 * shortestBytes + HEADERS_BYTES * chunkCount;
            assertThat((double) encodedBytes)
                    .as("%s %s plain=%s", shape, type, plainBytes)
                    .isLessThanOrEqualTo(limit);
        }
    }

    @Test
    void shouldEncodeOrderKeysOfLineItemsToAFourteenth() {
        long plainBytes = 0;
        long encodedBytes = 0;
        for (Chunk chunk : ColumnShape.LINEITEM_ORDER_KEY.chunks(ColumnType.INT64, 100, ROWS, 1)) {
            plainBytes += chunk.lengthBytes();
            encodedBytes += encoder.encode(chunk).length;
        }
        assertThat((double) plainBytes / encodedBytes).isGreaterThan(14);
    }

    @Test
    void shouldKeepHeaderFieldsAndVariableWidthValues() {
        ChunkSchema schema =
                ChunkSchema.of(
                        Column.of("id", ColumnType.INT64),
                        Column.of("name", ColumnType.STRING),
                        Column.nullable("score", ColumnType.FLOAT64),
                        Column.of("day", ColumnType.INT32));
        ChunkBuilder builder = new ChunkBuilder(schema, 1 << 20);
        for (int row = 0; row < 3000; row++) {
            builder.putLong(0, row);
            builder.putInt(3, row / 100);
            builder.addString("name-" + row);
            if (row % 3 == 0) {
                builder.addNull();
            } else {
                builder.addLong(row);
            }
            builder.endRow();
        }
        Chunk chunk = builder.sealMany(2, 5, 77, 99);

        byte[] encoded = encoder.encode(chunk);
        Chunk decoded = ChunkDecoder.decode(schema, encoded);

        assertThat(encoded.length).isLessThan(chunk.lengthBytes() - 3000 * 11);
        assertThat(decoded).isEqualTo(chunk);
        assertThat(decoded.hasManyPartitions()).isTrue();
        assertThat(decoded.epoch()).isEqualTo(77);
        assertThat(decoded.sequence()).isEqualTo(99);
    }

    @Test
    void shouldLeaveColumnsPlainThatDoNotShrink() {
        for (Chunk chunk : ColumnShape.RANDOM.chunks(ColumnType.INT64, 3, ROWS, 5)) {
            assertThat(encoder.encode(chunk)).isSameAs(chunk.array());
        }
    }

    @Test
    void shouldSelectAgainWhenTheDataChanges() {
        encoder.encode(ColumnShape.SORTED.chunks(ColumnType.INT64, 1, ROWS, 1).get(0));
        List<Chunk> changed = ColumnShape.LOW_CARDINALITY.chunks(ColumnType.INT64, 3, ROWS, 1);
        byte[] first = encoder.encode(changed.get(0));
        byte[] second = encoder.encode(changed.get(1));

        assertThat(first.length).isEqualTo(changed.get(0).lengthBytes());
        assertThat(second.length).isLessThan(changed.get(1).lengthBytes() / 10);
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void shouldRejectDamageThatTheChecksumCannotSee(long seed) {
        Random random = new Random(seed);
        List<byte[]> encoded = new ArrayList<>();
        List<ChunkSchema> schemas = new ArrayList<>();
        for (ColumnShape shape : ColumnShape.values()) {
            for (ColumnType type : List.of(ColumnType.INT32, ColumnType.INT8)) {
                Chunk chunk = shape.chunks(type, 1, 2500, seed).get(0);
                encoded.add(new ChunkEncoder().encode(chunk));
                schemas.add(chunk.schema());
            }
        }
        int rejected = 0;
        for (int i = 0; i < 20_000; i++) {
            int sample = random.nextInt(encoded.size());
            byte[] damaged = encoded.get(sample).clone();
            int at = 8 + random.nextInt(random.nextBoolean() ? 88 : damaged.length - 8);
            damaged[at] ^= (byte) (1 << random.nextInt(8));
            rejected += isRejected(schemas.get(sample), sealed(damaged)) ? 1 : 0;
        }
        // Other damage changes values only.
        assertThat(rejected).isGreaterThan(4000);
    }

    private static boolean isRejected(ChunkSchema schema, byte[] bytes) {
        try {
            Chunk decoded = ChunkDecoder.decode(schema, bytes);
            assertThat(decoded.lengthBytes()).isLessThanOrEqualTo(ChunkDecoder.MAX_DECODED_BYTES);
            return false;
        } catch (ChunkFormatException e) {
            return true;
        }
    }

    private static byte[] sealed(byte[] bytes) {
        Memory.putLong(
                bytes,
                Memory.BYTES + ChunkDescriptor.CHECKSUM_OFFSET,
                ChunkChecksum.of(bytes, Memory.BYTES, bytes.length));
        return bytes;
    }

    /** A constant column needs no bytes a row, so that its row count could be anything. */
    @Test
    void shouldRefuseAChunkThatDecodesToTooManyBytes() {
        Chunk chunk = ColumnShape.CONSTANT.chunks(ColumnType.INT64, 1, 4000, 1).get(0);
        byte[] encoded = encoder.encode(chunk);
        Memory.putInt(encoded, Memory.BYTES + ChunkDescriptor.ROW_COUNT_OFFSET, 1 << 27);

        assertThatThrownBy(() -> ChunkDecoder.decode(chunk.schema(), sealed(encoded)))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageContaining("rowCount=134217728");
    }

    @ParameterizedTest
    @CsvSource({
        "16, 'Encoding of a column', 9",
        "17, 'Bits of a code', 57",
        "19, 'Width of an encoded column', 2"
    })
    void shouldNameTheWrongField(int entryByte, String fault, byte value) {
        Chunk chunk = ColumnShape.SMALL_RANGE.chunks(ColumnType.INT64, 1, 4000, 1).get(0);
        byte[] encoded = encoder.encode(chunk);
        encoded[ChunkDescriptor.HEADER_BYTES + entryByte - 16] = value;

        assertThatThrownBy(() -> ChunkDecoder.decode(chunk.schema(), sealed(encoded)))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageContaining(fault)
                .hasMessageContaining("value=" + value);
    }

    @Test
    void shouldRejectAWrongChecksum() {
        Chunk chunk = ColumnShape.SORTED.chunks(ColumnType.INT64, 1, 4000, 1).get(0);
        byte[] encoded = encoder.encode(chunk);
        encoded[encoded.length - 40] ^= 1;

        assertThatThrownBy(() -> ChunkDecoder.decode(chunk.schema(), encoded))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageContaining("checksum");
    }

    @Test
    void shouldNotBeReadAsAPlainChunk() {
        Chunk chunk = ColumnShape.SORTED.chunks(ColumnType.INT64, 1, 4000, 1).get(0);

        assertThatThrownBy(() -> Chunk.wrap(chunk.schema(), encoder.encode(chunk)))
                .isInstanceOf(ChunkFormatException.class)
                .hasMessageContaining("encoded columns");
    }
}
