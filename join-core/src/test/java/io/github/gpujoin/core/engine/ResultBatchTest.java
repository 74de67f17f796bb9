// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ResultBatchTest {

    private static final ChunkSchema FACTS = ChunkSchema.of(Column.of("key", ColumnType.INT64));
    private static final JoinSpec SPEC =
            new JoinSpec(
                    FACTS,
                    List.of(
                            new DimensionSpec(
                                    "carrying",
                                    ChunkSchema.of(
                                            Column.of("key", ColumnType.INT64),
                                            Column.of("i", ColumnType.INT32),
                                            Column.of("l", ColumnType.INT64),
                                            Column.of("s", ColumnType.STRING)),
                                    0,
                                    0,
                                    JoinKind.INNER),
                            new DimensionSpec("bare", FACTS, 0, 0, JoinKind.SEMI)));

    private final Chunk chunk =
            TestChunks.of(FACTS, new Object[] {1L}, new Object[] {2L}, new Object[] {3L});
    private Region memory;
    private Region variableWidth;
    private ResultBatch batch;

    @BeforeEach
    void writeTwoRows() {
        ResultLayout layout = new ResultLayout(SPEC, 10);
        memory = Region.allocate(layout.lengthBytes());
        variableWidth = Region.allocate(64);
        batch = new ResultBatch(layout, memory.address());
        Memory.putInt(variableWidth.address(), 3);
        Memory.copy(new byte[] {7, 8, 9}, Memory.BYTES, null, variableWidth.address() + 4, 3);
        for (int row = 0; row < 2; row++) {
            Memory.putInt(batch.probeRowAddress() + 4 * row, row + 1);
            Memory.putInt(batch.payloadAddress(0, 0) + 4 * row, 10 + row);
            Memory.putLong(batch.payloadAddress(0, 1) + 8 * row, -1L - row);
            Memory.putLong(batch.variableWidthAddress(0) + 8 * row, variableWidth.address());
        }
        batch.set(chunk, 2, 2);
    }

    @AfterEach
    void giveMemoryBack() {
        memory.close();
        variableWidth.close();
    }

    @Test
    void shouldReadWhatWasWritten() {
        assertThat(batch.chunk()).isSameAs(chunk);
        assertThat(batch.rowCount()).isEqualTo(2);
        assertThat(batch.probeRow(1)).isEqualTo(2);
        assertThat(batch.getInt(0, 0, 1)).isEqualTo(11);
        assertThat(batch.getLong(0, 1, 1)).isEqualTo(-2);
        assertThat(batch.variableWidth(0, 0)).containsExactly(7, 8, 9);
    }

    @Test
    void shouldBeTheLastBatchIfAllRowsAreComplete() {
        assertThat(batch.isLast()).isFalse();
        batch.set(chunk, 0, 3);
        assertThat(batch.isLast()).isTrue();
    }

    @Test
    void shouldRejectRowsOutsideTheChunk() {
        for (int row : new int[] {-1, 2}) {
            for (Runnable read :
                    List.<Runnable>of(
                            () -> batch.probeRow(row),
                            () -> batch.getInt(0, 0, row),
                            () -> batch.getLong(0, 1, row),
                            () -> batch.variableWidth(0, row))) {
                assertThatExceptionOfType(IndexOutOfBoundsException.class)
                        .isThrownBy(read::run)
                        .withMessage("row=" + row + ", rowCount=2");
            }
        }
    }

    @Test
    void shouldRejectReadingAColumnWithAnotherWidth() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> batch.getLong(0, 0, 0))
                .withMessageContaining("payload=0, expected=4, widthBytes=8");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> batch.getInt(0, 1, 0))
                .withMessageContaining("payload=1, expected=8, widthBytes=4");
    }

    @Test
    void shouldRejectVariableWidthReadsOfADimensionWithoutThem() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> batch.variableWidth(1, 0))
                .withMessageContaining("dimension=1");
    }
}
