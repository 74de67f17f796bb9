// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.bulk;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.bulk.testing.BulkRun;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntToLongFunction;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tests of states, checks and memory of every bulk join. */
@ExtendWith(RegionLeakExtension.class)
public abstract class BulkJoinStateConformance {

    /** A key, and the number of the row. */
    static final ChunkSchema TUPLES =
            ChunkSchema.of(Column.of("key", ColumnType.INT64), Column.of("row", ColumnType.INT64));

    private static final int CHUNK_ROWS = 500;

    /** Creates the join under test. The test closes it. */
    protected abstract BulkJoin create(BulkJoinSpec spec);

    static BulkJoinSpec tuples(BulkJoinKind kind, BulkOutput output) {
        return new BulkJoinSpec(
                new BulkInput("l", TUPLES, List.of(0)),
                new BulkInput("r", TUPLES, List.of(0)),
                kind,
                false,
                output);
    }

    /** All columns that a kind returns. */
    static BulkOutput rows(BulkJoinKind kind) {
        return new BulkOutput.Rows(
                List.of(0, 1), kind.returns(JoinSide.RIGHT) ? List.of(0, 1) : List.of());
    }

    static List<Chunk> tupleChunks(int rows, IntToLongFunction keys) {
        List<Chunk> chunks = new ArrayList<>();
        List<Object[]> chunk = new ArrayList<>();
        for (int row = 0; row < rows; row++) {
            chunk.add(new Object[] {keys.applyAsLong(row), (long) row});
            if (chunk.size() == CHUNK_ROWS) {
                chunks.add(TestChunks.of(TUPLES, ChunkDescriptor.FACTS, chunk));
                chunk.clear();
            }
        }
        chunks.add(TestChunks.of(TUPLES, ChunkDescriptor.FACTS, chunk));
        return chunks;
    }

    private BulkJoin inState(BulkJoinState state) throws InterruptedException {
        BulkJoin join = create(tuples(BulkJoinKind.INNER, rows(BulkJoinKind.INNER)));
        List<Chunk> chunks = tupleChunks(2_000, row -> row);
        BulkRun.submit(join, chunks, chunks, 0);
        if (state != BulkJoinState.LOADING) {
            join.finish();
        }
        if (state == BulkJoinState.DONE) {
            join.drain(result -> {});
        } else if (state == BulkJoinState.CLOSED) {
            join.close();
        }
        assertThat(join.state()).isEqualTo(state);
        return join;
    }

    @ParameterizedTest
    @EnumSource(names = "FAILED", mode = EnumSource.Mode.EXCLUDE)
    void shouldRejectCallsInOtherStates(BulkJoinState state) throws Exception {
        try (BulkJoin join = inState(state)) {
            Chunk chunk = tupleChunks(1, row -> 1).get(0);
            if (state != BulkJoinState.LOADING) {
                assertRejected(state, () -> join.submit(JoinSide.LEFT, chunk));
                assertRejected(state, join::finish);
            }
            if (state != BulkJoinState.JOINING) {
                assertRejected(state, () -> join.poll(0));
            }
            if (state == BulkJoinState.JOINING || state == BulkJoinState.DONE) {
                assertThat(join.plan().reason()).endsWith(".");
            } else {
                assertRejected(state, join::plan);
            }
            assertThat(join.state()).isEqualTo(state);
        }
    }

    private static void assertRejected(BulkJoinState state, ThrowingCallable call) {
        assertThatIllegalStateException().isThrownBy(call).withMessageContaining("state=" + state);
    }

    @ParameterizedTest
    @EnumSource(names = "FAILED", mode = EnumSource.Mode.EXCLUDE)
    void shouldFreeAllMemoryInAnyState(BulkJoinState state) throws Exception {
        BulkJoin join = inState(state);
        join.close();
        join.close();
        assertThat(join.state()).isEqualTo(BulkJoinState.CLOSED);
        assertThat(join.stats().memoryBytes()).isZero();
    }

    @Test
    void shouldCloseWhileResultsWait() throws Exception {
        BulkJoin join = create(tuples(BulkJoinKind.INNER, rows(BulkJoinKind.INNER)));
        BulkRun.submit(join, tupleChunks(2_000, row -> 1), tupleChunks(2_000, row -> 1), 0);
        join.finish();
        BulkResult first = null;
        while (first == null) {
            first = join.poll(TimeUnit.MILLISECONDS.toNanos(10));
        }
        join.close();
        assertThat(((BulkResult.Rows) first).chunk().getLong(0, 0)).isOne();
    }

    @Test
    void shouldRejectChunkOfAnotherSchema() throws Exception {
        try (BulkJoin join = create(tuples(BulkJoinKind.INNER, new BulkOutput.Count()))) {
            ChunkSchema other = ChunkSchema.of(Column.of("key", ColumnType.INT32));
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () ->
                                    join.submit(
                                            JoinSide.RIGHT, TestChunks.of(other, new Object[] {1})))
                    .withMessageContaining("input=r, expected=(key INT64, row INT64), schema=(key");
            assertThat(join.state()).isEqualTo(BulkJoinState.LOADING);
        }
    }

    @Test
    void shouldCountRowsAndBytes() throws Exception {
        try (BulkJoin join = create(tuples(BulkJoinKind.SEMI, new BulkOutput.Count()))) {
            BulkRun.join(join, tupleChunks(700, row -> row), tupleChunks(300, row -> row % 7), 0);
            BulkJoinStats stats = join.stats();
            assertThat(stats.leftRows()).isEqualTo(700);
            assertThat(stats.rightRows()).isEqualTo(300);
            assertThat(stats.inputBytes()).isEqualTo(16_000);
            assertThat(stats.resultRows()).isEqualTo(7);
        }
    }
}
