// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.encoding.ChunkDecoder;
import io.github.gpujoin.core.encoding.ChunkEncoder;
import io.github.gpujoin.core.encoding.EncodedChunk;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.flink.emit.ColumnSource.Location;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class EncodedResultsTest {

    private static final int ROWS = 4096;
    private static final int BATCH_ROWS = 1024;
    private static final ChunkSchema FACTS =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT64), Column.of("price", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS,
                    List.of(
                            new DimensionSpec(
                                    "d",
                                    ChunkSchema.of(
                                            Column.of("id", ColumnType.INT64),
                                            Column.of("rate", ColumnType.INT64)),
                                    0,
                                    0,
                                    JoinKind.INNER)));
    private static final ChunkSchema RESULTS =
            ChunkSchema.of(
                    Column.of("price", ColumnType.INT64), Column.of("rate", ColumnType.INT64));

    private final Region memory =
            Region.allocateZeroed(new ResultLayout(SPEC, BATCH_ROWS).lengthBytes());
    private final Region codes = Region.allocateZeroed(BATCH_ROWS + 8);

    @AfterEach
    void free() {
        memory.close();
        codes.close();
    }

    private static Chunk facts() {
        ChunkBuilder builder = new ChunkBuilder(FACTS, 1 << 20);
        for (int row = 0; row < ROWS; row++) {
            builder.putLong(0, row);
            builder.putLong(1, 1000 + row % 999);
            builder.endRow();
        }
        return builder.seal(ChunkDescriptor.FACTS, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static Chunk encoded(Chunk chunk) {
        return ChunkDecoder.open(FACTS, new ChunkEncoder().encode(chunk));
    }

    /** One result for each of some adjacent facts, whose rates have 8 bits. */
    private final class AdjacentResults extends ResultBatch {

        private final boolean isPacked;
        private final boolean isConsecutive;

        AdjacentResults(Chunk chunk, int firstRow, boolean isPacked, boolean isConsecutive) {
            super(new ResultLayout(SPEC, BATCH_ROWS), memory.address());
            this.isPacked = isPacked;
            this.isConsecutive = isConsecutive;
            set(chunk, BATCH_ROWS, firstRow + BATCH_ROWS);
            for (int row = 0; row < BATCH_ROWS; row++) {
                Memory.putInt(probeRowAddress() + 4L * row, firstRow + row);
                Memory.putLong(payloadAddress(0, 0) + 8L * row, rate(firstRow + row));
                Memory.putByte(null, codes.address() + row, (byte) (rate(firstRow + row) - 7));
            }
        }

        @Override
        public boolean isConsecutive() {
            return isConsecutive;
        }

        @Override
        public @Nullable PackedColumn packedPayload(int dimension, int payload) {
            return isPacked ? new PackedColumn(codes.address(), 8, 7) : null;
        }
    }

    private static long rate(int factRow) {
        return 7 + factRow * 31L % 256;
    }

    private static EncodedResults results() {
        ColumnSource price =
                new ColumnSource(
                        Location.FACT_FIXED, -1, 1, ColumnType.INT64, ColumnSource.NONE, 0);
        ColumnSource rate =
                new ColumnSource(
                        Location.PAYLOAD_FIXED, 0, 0, ColumnType.INT64, ColumnSource.NONE, 0);
        return new EncodedResults(RESULTS, new ColumnSource[] {price, rate}, true);
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void shouldKeepTheEncodingOfFactsAndOfPackedResults(boolean isPacked) {
        Chunk facts = encoded(facts());
        EncodedResults results = results();
        int plainBytes = BATCH_ROWS * 2 * Long.BYTES;
        for (int firstRow = 0; firstRow < ROWS; firstRow += BATCH_ROWS) {
            Chunk chunk =
                    results.of(new AdjacentResults(facts, firstRow, isPacked, true), firstRow);
            assertThat(chunk).isInstanceOf(EncodedChunk.class);
            assertThat(chunk.isTransient()).isTrue();
            assertThat(chunk.sequence()).isEqualTo(firstRow);
            assertThat(chunk.lengthBytes())
                    .isLessThan(isPacked ? plainBytes / 5 : plainBytes * 3 / 4);
            assertThat(chunk.rowCount()).isEqualTo(BATCH_ROWS);
            for (int row = 0; row < BATCH_ROWS; row++) {
                assertThat(chunk.getLong(0, row)).isEqualTo(1000 + (firstRow + row) % 999);
                assertThat(chunk.getLong(1, row)).isEqualTo(rate(firstRow + row));
            }
        }
    }

    @Test
    void shouldLeaveOtherBatchesToTheirReaders() {
        Chunk plain = facts();
        Chunk encoded = encoded(plain);
        assertThat(encoded).isInstanceOf(EncodedChunk.class);
        ResultBatch batch = new AdjacentResults(encoded, 0, true, true);
        assertThat(EncodedResults.isEncoded(batch, 0, BATCH_ROWS)).isTrue();
        assertThat(EncodedResults.isEncoded(batch, 0, BATCH_ROWS - 1)).isFalse();
        assertThat(EncodedResults.isEncoded(batch, 1, BATCH_ROWS)).isFalse();
        ResultBatch gaps = new AdjacentResults(encoded, 0, true, false);
        assertThat(EncodedResults.isEncoded(gaps, 0, BATCH_ROWS)).isFalse();
        ResultBatch ofPlain = new AdjacentResults(plain, 0, true, true);
        assertThat(EncodedResults.isEncoded(ofPlain, 0, BATCH_ROWS)).isFalse();
    }
}
