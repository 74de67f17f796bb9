// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkCursor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class GroupCodesTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));

    private static final ChunkSchema PARTS =
            ChunkSchema.of(
                    Column.nullable("note", ColumnType.STRING),
                    Column.of("id", ColumnType.INT64),
                    Column.nullable("brand", ColumnType.STRING),
                    Column.of("size", ColumnType.INT32),
                    Column.nullable("price", ColumnType.INT64));

    private static final ChunkSchema DAYS =
            ChunkSchema.of(Column.of("day", ColumnType.INT64), Column.of("year", ColumnType.INT32));

    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS,
                    List.of(
                            new DimensionSpec("parts", PARTS, 1, 0, JoinKind.INNER),
                            new DimensionSpec("days", DAYS, 0, 0, JoinKind.INNER)),
                    List.of(),
                    new Aggregation(
                            List.of(new JoinColumn(0, 2), new JoinColumn(1, 1)),
                            List.of(Aggregate.count())));

    private static final Object[][] ROWS = {
        {"n1", 1L, "red", 7, 100L},
        {null, 2L, null, 8, null},
        {"", 3L, "blue", 9, 300L},
        {"n4", 4L, "red", 10, 400L},
        {"n5", 5L, "", 11, null}
    };

    private static Chunk parts(Object[]... rows) {
        return TestChunks.of(PARTS, 0, List.of(rows));
    }

    @Test
    void shouldNumberTextsByTheirFirstAppearanceAndKeepAllOtherColumns() {
        try (GroupCodes codes = new GroupCodes(SPEC, MemoryReservations.unlimited())) {
            Chunk coded = codes.encode(parts(ROWS));
            ChunkSchema schema = codes.spec().dimensions().get(0).schema();
            assertThat(coded.schema()).isEqualTo(schema);
            assertThat(schema.column(2)).isEqualTo(Column.of("brand", ColumnType.INT32));
            assertThat(IntStream.range(0, ROWS.length).map(row -> coded.getInt(2, row)))
                    .containsExactly(0, -1, 1, 0, 2);
            ChunkCursor cursor = new ChunkCursor(schema);
            for (int row = 0; row < ROWS.length; row++) {
                cursor.at(coded, row);
                assertThat(cursor.getString(0)).isEqualTo(ROWS[row][0]);
                assertThat(cursor.getLong(1)).isEqualTo(ROWS[row][1]);
                assertThat(cursor.getInt(3)).isEqualTo(ROWS[row][3]);
                assertThat(cursor.isNull(4) ? null : (Object) cursor.getLong(4))
                        .isEqualTo(ROWS[row][4]);
            }
            Chunk next = codes.encode(parts(new Object[] {null, 6L, "blue", 0, null}));
            assertThat(next.getInt(2, 0)).isEqualTo(1);
        }
    }

    @Test
    void shouldReturnTextsOfGroups() {
        try (GroupCodes codes = new GroupCodes(SPEC, MemoryReservations.unlimited())) {
            codes.encode(parts(ROWS));
            long[] values = {1, 1998, 5, -1, 1999, 6, 2, 1999, 7};
            GroupRows groups = codes.decode(new GroupRows(SPEC.aggregation(), values));
            assertThat(IntStream.range(0, 3).mapToObj(row -> groups.groupText(row, 0)))
                    .containsExactly("blue", null, "");
            assertThat(groups.groupValue(1, 1)).isEqualTo(1999);
            assertThat(groups.aggregate(2, 0)).isEqualTo(7);
        }
    }

    @Test
    void shouldKeepTheHeaderOfAChunk() {
        ChunkBuilder builder = new ChunkBuilder(PARTS, 1_000);
        TestChunks.addRow(builder, ROWS[0]);
        Chunk chunk = builder.sealMany(0, 3, 4, 5);
        try (GroupCodes codes = new GroupCodes(SPEC, MemoryReservations.unlimited())) {
            Chunk coded = codes.encode(chunk);
            assertThat(coded.hasManyPartitions()).isTrue();
            assertThat(List.of(coded.partition(), coded.epoch(), coded.sequence()))
                    .containsExactly(3, 4L, 5L);
            assertThat(codes.encode(parts()).rowCount()).isZero();
        }
    }

    @Test
    void shouldReturnChunksAndJoinsWithoutTextGroupsAsTheyAre() {
        Chunk days = TestChunks.of(DAYS, 1, List.<Object[]>of(new Object[] {1L, 1998}));
        try (GroupCodes codes = new GroupCodes(SPEC, MemoryReservations.unlimited())) {
            assertThat(codes.encode(days)).isSameAs(days);
            assertThat(GroupCodes.codedSpec(codes.spec())).isSameAs(codes.spec());
        }
        JoinSpec rows = new JoinSpec(FACTS, SPEC.dimensions());
        assertThat(GroupCodes.codedSpec(rows)).isSameAs(rows);
    }

    @Test
    void shouldReserveItsTextsAndReleaseThem() {
        long limitBytes = 3 * TextDictionary.ENTRY_BYTES;
        Limited memory = new Limited(limitBytes);
        GroupCodes codes = new GroupCodes(SPEC, memory);
        codes.encode(parts(ROWS[0], ROWS[1], ROWS[2], ROWS[3]));
        assertThat(memory.availableBytes()).isEqualTo(TextDictionary.ENTRY_BYTES - 2 * 7);
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(() -> codes.encode(parts(new Object[] {null, 1L, "green", 1, 1L})));
        codes.close();
        codes.close();
        assertThat(memory.availableBytes()).isEqualTo(limitBytes);
    }

    /** Memory of one thread with a limit. */
    private static final class Limited implements MemoryReservations {
        private long availableBytes;

        Limited(long limitBytes) {
            availableBytes = limitBytes;
        }

        @Override
        public void reserve(long lengthBytes) {
            if (lengthBytes > availableBytes) {
                throw new MemoryRefusedException("full", null);
            }
            availableBytes -= lengthBytes;
        }

        @Override
        public void release(long lengthBytes) {
            availableBytes += lengthBytes;
        }

        @Override
        public long availableBytes() {
            return availableBytes;
        }
    }
}
