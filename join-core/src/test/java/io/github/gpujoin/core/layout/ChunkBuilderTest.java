// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.layout;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.layout.testing.ChunkSamples;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Memory;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ChunkBuilderTest {

    private static final ChunkSchema FIXED =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("v", ColumnType.INT32));
    private static final ChunkSchema MIXED =
            ChunkSchema.of(
                    Column.of("key", ColumnType.INT32), Column.nullable("text", ColumnType.STRING));

    private static Chunk seal(ChunkBuilder builder) {
        return builder.seal(0, ChunkDescriptor.UNPARTITIONED, 0, 0);
    }

    private static void addMixed(ChunkBuilder builder, int key, String text) {
        TestChunks.addRow(builder, key, text);
    }

    private static Object[] mixedRow(Chunk chunk, int row) {
        return ChunkSamples.values(new ChunkCursor(MIXED).at(chunk, row));
    }

    @ParameterizedTest(name = "targetBytes={0}: {1} rows")
    @CsvSource({"1, 1", "12, 1", "23, 1", "24, 2", "65536, 5461"})
    void shouldHoldAllRowsThatFitTheTarget(int targetBytes, int rows) {
        ChunkBuilder builder = new ChunkBuilder(FIXED, targetBytes);
        assertThat(builder.capacityRows()).isEqualTo(rows);
        for (int row = 0; row < rows; row++) {
            assertThat(builder.isFull()).isFalse();
            assertThat(builder.rowCount()).isEqualTo(row);
            TestChunks.addRow(builder, (long) row, row);
        }
        assertThat(builder.isFull()).isTrue();
        assertThat(seal(builder).rowCount()).isEqualTo(rows);
        assertThat(builder.isEmpty()).isTrue();
        assertThat(builder.isFull()).isFalse();
    }

    @ParameterizedTest
    @ValueSource(ints = {0, -1, Integer.MIN_VALUE})
    void shouldRejectATargetThatIsNotPositive(int targetBytes) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> new ChunkBuilder(FIXED, targetBytes))
                .withMessage("Chunk size is not positive: targetBytes=" + targetBytes);
    }

    @Test
    void shouldBeFullIfFixedAndVariableWidthBytesReachTheTarget() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
        int rows = 0;
        while (!builder.isFull()) {
            addMixed(builder, rows++, "x".repeat(92));
        }
        assertThat(rows).as("of 4 + 4 + 92 bytes").isEqualTo(10);
    }

    @Test
    void shouldAcceptARowLargerThanTheTarget() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 16);
        String text = "y".repeat(1_000_000);
        addMixed(builder, 7, text);
        assertThat(builder.isFull()).isTrue();
        assertThat(mixedRow(seal(builder), 0)).containsExactly(7, text);
    }

    @Test
    void shouldRejectARowBeyondItsCapacity() {
        ChunkBuilder fixed = new ChunkBuilder(FIXED, 24);
        TestChunks.addRow(fixed, 1L, 1);
        TestChunks.addRow(fixed, 2L, 2);
        ChunkBuilder variableWidth = new ChunkBuilder(ChunkSamples.SCHEMAS.get(2), 1);
        TestChunks.addRow(variableWidth, "only");
        for (Runnable write :
                List.<Runnable>of(
                        () -> fixed.putInt(1, 3),
                        () -> fixed.putLong(0, 3),
                        fixed::endRow,
                        variableWidth::endRow)) {
            assertThatIllegalStateException()
                    .isThrownBy(write::run)
                    .withMessageContaining("Chunk is full. Call seal() first: capacityRows=");
        }
        assertThat(seal(fixed).rowCount()).isEqualTo(2);
        assertThat(seal(variableWidth).rowCount()).isEqualTo(1);
    }

    @Test
    void shouldRejectAValueOfAnotherWidthThanItsColumn() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 100);
        ChunkBuilder fixed = new ChunkBuilder(FIXED, 100);
        for (Runnable write :
                List.<Runnable>of(
                        () -> fixed.putInt(0, 1),
                        () -> fixed.putFloat(0, 1),
                        () -> fixed.putLong(1, 1),
                        () -> fixed.putDouble(1, 1),
                        () -> builder.putInt(1, 1),
                        () -> builder.putLong(1, 1))) {
            assertThatIllegalArgumentException()
                    .isThrownBy(write::run)
                    .withMessageContaining("Value and column differ in width: column=");
        }
    }

    @Test
    void shouldDiscardARow() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
        builder.putInt(0, 1);
        builder.addString("gone");
        builder.discardRow();
        addMixed(builder, 2, "kept");
        builder.putInt(0, 3);
        builder.addString("gone too");
        builder.discardRow();
        builder.discardRow();
        addMixed(builder, 4, null);
        Chunk chunk = seal(builder);
        assertThat(chunk.rowCount()).isEqualTo(2);
        assertThat(mixedRow(chunk, 0)).containsExactly(2, "kept");
        assertThat(mixedRow(chunk, 1)).containsExactly(4, null);
    }

    @Test
    void shouldRejectSealingInTheMiddleOfARow() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
        addMixed(builder, 1, "whole");
        builder.putInt(0, 2);
        builder.addString("half");
        assertThatIllegalStateException()
                .isThrownBy(() -> seal(builder))
                .withMessageContaining("row=1");
        builder.discardRow();
        assertThat(seal(builder).rowCount()).isEqualTo(1);
    }

    @Test
    void shouldRejectVariableWidthValuesOfAnotherSchema() {
        for (int values : new int[] {0, 2}) {
            ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
            builder.putInt(0, 1);
            for (int i = 0; i < values; i++) {
                builder.addString("text");
            }
            builder.endRow();
            assertThatExceptionOfType(ChunkFormatException.class)
                    .isThrownBy(() -> seal(builder))
                    .withMessageContaining("row=0");
        }
    }

    @Test
    void shouldRejectBytesOutsideTheirArrayAndStayUsable() {
        ChunkBuilder builder = new ChunkBuilder(ChunkSamples.SCHEMAS.get(2), 16);
        byte[] value = new byte[10];
        for (int[] range :
                new int[][] {{0, -1}, {-1, 2}, {0, 11}, {9, 2}, {0, Integer.MAX_VALUE}}) {
            assertThatExceptionOfType(IndexOutOfBoundsException.class)
                    .isThrownBy(() -> builder.addBytes(value, range[0], range[1]));
        }
        TestChunks.addRow(builder, "still works");
        assertThat(seal(builder).rowCount()).isEqualTo(1);
    }

    @ParameterizedTest
    @ValueSource(ints = {-2, 32_768, Integer.MAX_VALUE, Integer.MIN_VALUE})
    void shouldRejectADimensionThatDoesNotFitTheHeader(int dimension) {
        ChunkBuilder builder = new ChunkBuilder(FIXED, 100);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> builder.seal(dimension, 0, 0, 0))
                .withMessageContaining("dimension=" + dimension);
    }

    @Test
    void shouldAdvanceOverRowsWrittenInBulk() {
        ChunkBuilder builder = new ChunkBuilder(FIXED, 120);
        for (int row = 0; row < 10; row++) {
            long at = Memory.BYTES;
            Memory.putLong(builder.array(), at + builder.columnOffset(0) + 8L * row, 100 + row);
            Memory.putInt(builder.array(), at + builder.columnOffset(1) + 4L * row, -row);
        }
        builder.advance(4);
        assertThat(builder.rowCount()).isEqualTo(4);
        builder.advance(6);
        assertThat(builder.isFull()).isTrue();
        Chunk chunk = seal(builder);
        for (int row = 0; row < 10; row++) {
            assertThat(chunk.getLong(0, row)).isEqualTo(100 + row);
            assertThat(chunk.getInt(1, row)).isEqualTo(-row);
        }
    }

    @Test
    void shouldReuseTheMemoryOfTransientChunks() {
        ChunkBuilder builder = new ChunkBuilder(FIXED, 120);
        byte[] memory = builder.array();
        Chunk kept = null;
        for (int round = 0; round < 3; round++) {
            for (int row = 0; row < 10; row++) {
                builder.putLong(0, 100 * round + row);
                builder.putInt(1, round);
                builder.endRow();
            }
            Chunk chunk = builder.sealTransient(ChunkDescriptor.FACTS, 0, 0, round);
            assertThat(chunk.isTransient()).isTrue();
            assertThat(chunk.array()).isSameAs(memory).isSameAs(builder.array());
            assertThat(chunk.getLong(0, 9)).isEqualTo(100 * round + 9);
            kept = kept == null ? chunk.onHeap() : kept;
        }
        assertThat(kept.isTransient()).isFalse();
        assertThat(kept.getLong(0, 9)).isEqualTo(9);
        assertThat(kept.sequence()).isZero();
        builder.putLong(0, 1);
        builder.endRow();
        assertThat(builder.sealTransient(ChunkDescriptor.FACTS, 0, 0, 4).isTransient())
                .as("a chunk that is not full")
                .isFalse();
    }

    @Test
    void shouldRejectAdvancingBeyondItsCapacityOrOverVariableWidthColumns() {
        ChunkBuilder fixed = new ChunkBuilder(FIXED, 120);
        ChunkBuilder mixed = new ChunkBuilder(MIXED, 120);
        fixed.advance(3);
        for (int rows : new int[] {-1, 8, Integer.MAX_VALUE}) {
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> fixed.advance(rows))
                    .withMessageContaining("rows=" + rows + ", room=7");
        }
        assertThatIllegalArgumentException().isThrownBy(() -> mixed.advance(1));
        assertThat(mixed.columnOffset(1)).isEqualTo(-1);
    }

    @Test
    void shouldCopyVariableWidthRowsFromAnotherChunk() {
        Chunk source = ChunkSamples.chunk(3, 20);
        ChunkBuilder builder = new ChunkBuilder(source.schema(), 10_000);
        for (int row = 0; row < 20; row++) {
            builder.addVariableWidthRow(
                    source.array(), source.variableWidthStart(row), source.variableWidthEnd(row));
            builder.endRow();
        }
        assertThat(builder.seal(3, -1, 0, 0).bytes()).isEqualTo(source.bytes());
    }

    @Test
    void shouldStartEachChunkEmpty() {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
        for (int i = 0; i < 20; i++) {
            addMixed(builder, -1, "of the chunk before");
        }
        seal(builder);
        addMixed(builder, 5, "x");
        ChunkBuilder fresh = new ChunkBuilder(MIXED, 1_000);
        addMixed(fresh, 5, "x");
        assertThat(seal(builder).bytes()).isEqualTo(seal(fresh).bytes());
    }

    @ParameterizedTest(name = "rows {0} to {1}")
    @CsvSource({"0, 5", "1, 3", "4, 5", "2, 2"})
    void shouldAddRowsOfAChunk(int from, int to) {
        ChunkBuilder builder = new ChunkBuilder(MIXED, 1_000);
        for (int row = 0; row < 5; row++) {
            addMixed(builder, row, row == 3 ? null : "x".repeat(row));
        }
        Chunk source = seal(builder);
        addMixed(builder, 77, "before");

        assertThat(builder.addRows(source, from, to - from)).isEqualTo(to - from);

        addMixed(builder, 78, "behind");
        Chunk copy = seal(builder);
        assertThat(copy.rowCount()).isEqualTo(to - from + 2);
        assertThat(mixedRow(copy, 0)).containsExactly(77, "before");
        for (int row = from; row < to; row++) {
            assertThat(mixedRow(copy, 1 + row - from)).isEqualTo(mixedRow(source, row));
        }
        assertThat(mixedRow(copy, 1 + to - from)).containsExactly(78, "behind");
    }

    @Test
    void shouldAddNoMoreRowsThanFit() {
        ChunkBuilder builder = new ChunkBuilder(FIXED, 5 * FIXED.fixedRowBytes());
        for (int row = 0; row < 5; row++) {
            TestChunks.addRow(builder, (long) row, row);
        }
        Chunk source = seal(builder);
        TestChunks.addRow(builder, 77L, 77);
        TestChunks.addRow(builder, 78L, 78);

        assertThat(builder.addRows(source, 1, 4)).isEqualTo(3);

        Chunk copy = seal(builder);
        assertThat(copy.getInt(1, 1)).isEqualTo(78);
        assertThat(copy.getInt(1, 4)).isEqualTo(3);
    }
}
