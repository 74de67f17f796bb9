// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric;

import static io.github.gpujoin.core.symmetric.ChangeKind.DELETE;
import static io.github.gpujoin.core.symmetric.ChangeKind.INSERT;
import static io.github.gpujoin.core.symmetric.ChangeKind.UPDATE_AFTER;
import static io.github.gpujoin.core.symmetric.ChangeKind.UPDATE_BEFORE;
import static io.github.gpujoin.core.symmetric.testing.JoinResult.join;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkBuilder;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.core.layout.Column;
import io.github.gpujoin.core.layout.ColumnType;
import io.github.gpujoin.core.layout.testing.TestChunks;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.testing.JoinResult;
import io.github.gpujoin.core.symmetric.testing.SwitchedMemory;
import io.github.gpujoin.core.symmetric.testing.TestInputs;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Change;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import io.github.gpujoin.core.testing.RegionLeakExtension;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The tests of kinds of change, states, checks and memory of every symmetric join. */
@ExtendWith(RegionLeakExtension.class)
public abstract class SymmetricJoinStateConformance {

    private static final int LEFT = 0;
    private static final int RIGHT = 1;
    private static final Row LEFT_ROW = new Row(5, 1);
    private static final Row RIGHT_ROW = new Row(5, 2);
    private static final Row OTHER_RIGHT_ROW = new Row(5, 3);

    /** Creates the join under test. The test closes it. */
    protected abstract SymmetricJoin create(
            SymmetricJoinSpec spec, MatchCondition condition, MemoryReservations hostMemory);

    private static SymmetricJoinSpec spec(BulkJoinKind kind, RowIdentity identity) {
        return new SymmetricJoinSpec(
                TestInputs.input("l", identity, false),
                TestInputs.input("r", identity, false),
                kind);
    }

    private SymmetricJoin open(SymmetricJoinSpec spec) {
        SymmetricJoin join = create(spec, MatchCondition.ALWAYS, MemoryReservations.unlimited());
        join.finishLoad(0);
        return join;
    }

    private static Chunk chunk(SymmetricJoin join, int input, Change... changes) {
        return TestInputs.chunk(join.inputs().get(input), 0, List.of(changes));
    }

    private static List<JoinResult> submit(
            SymmetricJoin join, int input, ChangeKind kind, Row row) {
        return submit(join, input, kind, row, 0);
    }

    private static List<JoinResult> submit(
            SymmetricJoin join, int input, ChangeKind kind, Row row, long timeMs) {
        return join(join, input, chunk(join, input, new Change(kind, row)), 0, timeMs);
    }

    private static Chunk inserts(SymmetricJoin join, int input, int rows, int firstId) {
        SymmetricInput rowsOf = join.inputs().get(input);
        List<Change> changes =
                IntStream.range(0, rows)
                        .mapToObj(i -> new Change(INSERT, new Row(5, firstId + i)))
                        .toList();
        return TestInputs.chunk(rowsOf, 0, changes);
    }

    // ------------------------------------------------------------------ kinds of change

    @Test
    void shouldKeepTheKindsOfAnInnerJoin() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, RowIdentity.MULTISET))) {
            assertThat(submit(join, LEFT, INSERT, LEFT_ROW)).isEmpty();
            for (ChangeKind kind : List.of(INSERT, UPDATE_BEFORE, UPDATE_AFTER, DELETE)) {
                assertThat(submit(join, RIGHT, kind, RIGHT_ROW))
                        .containsExactly(new JoinResult(kind, LEFT_ROW, RIGHT_ROW));
            }
        }
    }

    @Test
    void shouldRetractTheNullResultOfALeftJoin() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.LEFT, RowIdentity.MULTISET))) {
            assertThat(submit(join, LEFT, UPDATE_AFTER, LEFT_ROW))
                    .containsExactly(new JoinResult(INSERT, LEFT_ROW, null));
            assertThat(submit(join, RIGHT, UPDATE_AFTER, RIGHT_ROW))
                    .containsExactly(
                            new JoinResult(DELETE, LEFT_ROW, null),
                            new JoinResult(INSERT, LEFT_ROW, RIGHT_ROW));
            assertThat(submit(join, RIGHT, INSERT, OTHER_RIGHT_ROW))
                    .containsExactly(new JoinResult(INSERT, LEFT_ROW, OTHER_RIGHT_ROW));
            assertThat(submit(join, RIGHT, UPDATE_BEFORE, RIGHT_ROW))
                    .containsExactly(new JoinResult(UPDATE_BEFORE, LEFT_ROW, RIGHT_ROW));
            assertThat(submit(join, RIGHT, UPDATE_BEFORE, OTHER_RIGHT_ROW))
                    .containsExactly(
                            new JoinResult(UPDATE_BEFORE, LEFT_ROW, OTHER_RIGHT_ROW),
                            new JoinResult(INSERT, LEFT_ROW, null));
            assertThat(submit(join, LEFT, UPDATE_BEFORE, LEFT_ROW))
                    .containsExactly(new JoinResult(DELETE, LEFT_ROW, null));
        }
    }

    @Test
    void shouldInsertAndDeleteThePairsOfAFullJoin() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.FULL, RowIdentity.MULTISET))) {
            submit(join, RIGHT, INSERT, RIGHT_ROW);
            assertThat(submit(join, LEFT, UPDATE_AFTER, LEFT_ROW))
                    .containsExactly(
                            new JoinResult(DELETE, null, RIGHT_ROW),
                            new JoinResult(INSERT, LEFT_ROW, RIGHT_ROW));
            assertThat(submit(join, LEFT, UPDATE_BEFORE, LEFT_ROW))
                    .containsExactly(
                            new JoinResult(DELETE, LEFT_ROW, RIGHT_ROW),
                            new JoinResult(INSERT, null, RIGHT_ROW));
        }
    }

    @Test
    void shouldKeepTheKindsOfASemiJoin() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.SEMI, RowIdentity.MULTISET))) {
            submit(join, LEFT, INSERT, LEFT_ROW);
            assertThat(submit(join, RIGHT, UPDATE_AFTER, RIGHT_ROW))
                    .containsExactly(new JoinResult(UPDATE_AFTER, LEFT_ROW, null));
            assertThat(submit(join, RIGHT, INSERT, OTHER_RIGHT_ROW)).isEmpty();
            assertThat(submit(join, LEFT, UPDATE_BEFORE, LEFT_ROW))
                    .containsExactly(new JoinResult(UPDATE_BEFORE, LEFT_ROW, null));
            submit(join, LEFT, UPDATE_AFTER, LEFT_ROW);
            assertThat(submit(join, RIGHT, DELETE, RIGHT_ROW)).isEmpty();
            assertThat(submit(join, RIGHT, UPDATE_BEFORE, OTHER_RIGHT_ROW))
                    .containsExactly(new JoinResult(UPDATE_BEFORE, LEFT_ROW, null));
        }
    }

    @Test
    void shouldInsertAndDeleteTheRowsOfAnAntiJoin() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.ANTI, RowIdentity.MULTISET))) {
            assertThat(submit(join, LEFT, UPDATE_AFTER, LEFT_ROW))
                    .containsExactly(new JoinResult(UPDATE_AFTER, LEFT_ROW, null));
            assertThat(submit(join, RIGHT, UPDATE_AFTER, RIGHT_ROW))
                    .containsExactly(new JoinResult(DELETE, LEFT_ROW, null));
            assertThat(submit(join, LEFT, INSERT, LEFT_ROW)).isEmpty();
            assertThat(submit(join, RIGHT, UPDATE_BEFORE, RIGHT_ROW))
                    .containsExactly(
                            new JoinResult(INSERT, LEFT_ROW, null),
                            new JoinResult(INSERT, LEFT_ROW, null));
        }
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldJoinAndCountRetractionsOfUnknownRows(RowIdentity identity) {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, identity))) {
            submit(join, LEFT, INSERT, LEFT_ROW);
            assertThat(submit(join, RIGHT, DELETE, RIGHT_ROW))
                    .containsExactly(new JoinResult(DELETE, LEFT_ROW, RIGHT_ROW));
            submit(join, RIGHT, INSERT, RIGHT_ROW);
            submit(join, RIGHT, DELETE, RIGHT_ROW);
            submit(join, RIGHT, DELETE, RIGHT_ROW);
            assertThat(join.stats().unknownRetractions()).isEqualTo(2);
            assertThat(join.stats().tableRows().get(RIGHT)).isZero();
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"JOIN_KEY", "UNIQUE_COLUMNS"})
    void shouldReplaceRowsWithoutRetractingTheirResults(RowIdentity identity) {
        try (SymmetricJoin join = open(spec(BulkJoinKind.LEFT, identity))) {
            Row before = new Row(5L, 2, 10, "before");
            Row after = new Row(5L, 2, 20, "after");
            submit(join, RIGHT, INSERT, before);
            assertThat(submit(join, RIGHT, UPDATE_AFTER, after)).isEmpty();
            assertThat(submit(join, LEFT, INSERT, LEFT_ROW))
                    .containsExactly(new JoinResult(INSERT, LEFT_ROW, after));
            assertThat(submit(join, LEFT, UPDATE_AFTER, LEFT_ROW))
                    .containsExactly(new JoinResult(INSERT, LEFT_ROW, after));
            assertThat(submit(join, RIGHT, DELETE, before))
                    .containsExactly(
                            new JoinResult(DELETE, LEFT_ROW, before),
                            new JoinResult(INSERT, LEFT_ROW, null));
            assertThat(join.stats().tableRows().get(LEFT)).isOne();
            assertThat(join.stats().tableRows().get(RIGHT)).isZero();
            assertThat(join.stats().unknownRetractions()).isZero();
        }
    }

    @Test
    void shouldKeepRowsWithANullKeyOutOfTheTables() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.FULL, RowIdentity.MULTISET))) {
            Row row = new Row(null, 1, 2, "x");
            assertThat(submit(join, LEFT, INSERT, row))
                    .containsExactly(new JoinResult(INSERT, row, null));
            assertThat(submit(join, RIGHT, UPDATE_AFTER, row))
                    .containsExactly(new JoinResult(INSERT, null, row));
            assertThat(submit(join, LEFT, UPDATE_BEFORE, row))
                    .containsExactly(new JoinResult(DELETE, row, null));
            assertThat(join.stats().tableRows()).containsExactly(0L, 0L);
            assertThat(join.stats().unknownRetractions()).isZero();
        }
    }

    // ------------------------------------------------------------------ time to live

    @Test
    void shouldMatchRowsUntilTheirTimeToLiveHasPassed() {
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        TestInputs.input("l", RowIdentity.MULTISET, false, 100),
                        TestInputs.input("r", RowIdentity.MULTISET, false),
                        BulkJoinKind.INNER);
        try (SymmetricJoin join = open(spec)) {
            Chunk left = chunk(join, LEFT, new Change(INSERT, LEFT_ROW));
            Chunk right = chunk(join, RIGHT, new Change(INSERT, RIGHT_ROW));
            join(join, LEFT, left, 0, 1_000);
            assertThat(join(join, RIGHT, right, 0, 1_099)).hasSize(1);
            assertThat(join(join, RIGHT, right, 0, 1_100)).isEmpty();
            join(join, LEFT, left, 0, 2_000);
            join(join, LEFT, left, 0, 2_090);
            assertThat(join(join, RIGHT, right, 0, 2_150)).hasSize(2);
            join.expire(2_190);
            assertThat(join.stats().tableRows().get(LEFT)).isZero();
            assertThat(join.stats().expiredRows()).isEqualTo(3);
        }
    }

    @Test
    void shouldExpireLoadedRows() {
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        TestInputs.input("l", RowIdentity.APPEND_ONLY, false, 100),
                        TestInputs.input("r", RowIdentity.APPEND_ONLY, false),
                        BulkJoinKind.RIGHT);
        try (SymmetricJoin join =
                create(spec, MatchCondition.ALWAYS, MemoryReservations.unlimited())) {
            join.load(LEFT, chunk(join, LEFT, new Change(INSERT, LEFT_ROW)), 10);
            join.load(LEFT, chunk(join, LEFT, new Change(INSERT, LEFT_ROW)), 20);
            join.finishLoad(110);
            assertThat(join.stats().tableRows().get(LEFT)).isOne();
            Chunk right = chunk(join, RIGHT, new Change(INSERT, RIGHT_ROW));
            assertThat(join(join, RIGHT, right, 0, 119)).hasSize(1);
            assertThat(join(join, RIGHT, right, 0, 120))
                    .containsExactly(new JoinResult(INSERT, null, RIGHT_ROW));
        }
    }

    /** A copy that had expired when an equal row was added is not loaded as a copy of it. */
    @Test
    void shouldExpireCopiesBeforeLaterRowsAreLoaded() {
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        TestInputs.input("l", RowIdentity.MULTISET, false, 100),
                        TestInputs.input("r", RowIdentity.MULTISET, false),
                        BulkJoinKind.INNER);
        try (SymmetricJoin join =
                create(spec, MatchCondition.ALWAYS, MemoryReservations.unlimited())) {
            for (long timeMs : new long[] {1_000, 1_050, 1_150}) {
                join.load(LEFT, chunk(join, LEFT, new Change(INSERT, LEFT_ROW)), timeMs);
            }
            join.finishLoad(1_160);
            assertThat(join.stats().tableRows().get(LEFT)).isOne();
            submit(join, LEFT, DELETE, LEFT_ROW, 1_170);
            assertThat(join.stats().tableRows().get(LEFT)).isZero();
        }
    }

    // ------------------------------------------------------------------ batches

    @ParameterizedTest
    @EnumSource(BulkJoinKind.class)
    void shouldRepeatOnlyIncompleteRowsAfterRestart(BulkJoinKind kind) {
        SymmetricJoinSpec spec = spec(kind, RowIdentity.UNIQUE_COLUMNS);
        try (SymmetricJoin join = open(spec)) {
            Chunk left = inserts(join, LEFT, 1_500, 0);
            Chunk right = inserts(join, RIGHT, 12, 0);
            join(join, LEFT, left, 0, 0);
            assertThat(join.submit(RIGHT, right, 0, 0)).isTrue();
            List<JoinResult> results = new ArrayList<>();
            List<Integer> restarts = new ArrayList<>();
            List<Integer> resultsBefore = new ArrayList<>();
            SymmetricBatch batch;
            int completedRows = 0;
            do {
                batch = join.poll();
                assertThat(batch.resultCount()).isLessThanOrEqualTo(1 << 14);
                results.addAll(JoinResult.of(join, batch));
                if (batch.completedRows() > completedRows) {
                    completedRows = batch.completedRows();
                    restarts.add(completedRows);
                    resultsBefore.add(results.size());
                }
            } while (!batch.isLast());
            if (kind.returnsPairs()) {
                assertThat(results.stream().filter(r -> r.left() != null && r.right() != null))
                        .hasSize(18_000);
                assertThat(restarts).hasSizeGreaterThan(1);
            }
            for (int i = 0; i < restarts.size(); i += Math.max(1, restarts.size() / 2)) {
                try (SymmetricJoin restarted =
                        create(spec, MatchCondition.ALWAYS, MemoryReservations.unlimited())) {
                    restarted.load(LEFT, left, 0);
                    restarted.finishLoad(0);
                    List<JoinResult> repeated = join(restarted, RIGHT, right, restarts.get(i), 0);
                    assertThat(counts(repeated))
                            .isEqualTo(
                                    counts(results.subList(resultsBefore.get(i), results.size())));
                    assertThat(restarted.stats().tableRows().get(RIGHT)).isEqualTo(12);
                }
            }
        }
    }

    private static Map<JoinResult, Long> counts(List<JoinResult> results) {
        return results.stream()
                .collect(Collectors.groupingBy(result -> result, Collectors.counting()));
    }

    @Test
    void shouldReturnTheResultsOfOneRowAcrossBatches() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.FULL, RowIdentity.MULTISET))) {
            join(join, LEFT, inserts(join, LEFT, 9_000, 0), 0, 0);
            for (int copy = 0; copy < 2; copy++) {
                join(join, LEFT, chunk(join, LEFT, insert(7)), 0, 0);
            }
            Chunk right = chunk(join, RIGHT, insert(-1), insert(-2));
            join.submit(RIGHT, right, 0, 0);
            int results = 0;
            int batches = 0;
            SymmetricBatch batch;
            do {
                batch = join.poll();
                batches++;
                results += batch.resultCount();
                if (batch.completedRows() == 0) {
                    for (int i = 0; i < batch.resultCount(); i++) {
                        assertThat(batch.chunk(RIGHT, i) == null || batch.row(RIGHT, i) == 0)
                                .isTrue();
                    }
                }
            } while (!batch.isLast());
            assertThat(batches).isGreaterThan(3);
            assertThat(results).isEqualTo(3 * 9_002);
        }
    }

    private static Change insert(int id) {
        return new Change(INSERT, new Row(5, id));
    }

    @Test
    void shouldReturnABatchForAChunkWithoutRows() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.LEFT, RowIdentity.APPEND_ONLY))) {
            assertThat(join.poll()).isNull();
            assertThat(join(join, LEFT, chunk(join, LEFT), 0, 0)).isEmpty();
        }
    }

    @Test
    void shouldJoinQueuedChunksInOrder() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, RowIdentity.MULTISET))) {
            Chunk insert = chunk(join, LEFT, new Change(INSERT, LEFT_ROW));
            Chunk delete = chunk(join, LEFT, new Change(DELETE, LEFT_ROW));
            Chunk right = chunk(join, RIGHT, new Change(INSERT, RIGHT_ROW));
            int chunks = 0;
            boolean hasRoom = true;
            while (hasRoom) {
                hasRoom =
                        switch (chunks % 4) {
                            case 0 -> join.submit(LEFT, insert, 0, 0);
                            case 2 -> join.submit(LEFT, delete, 0, 0);
                            default -> join.submit(RIGHT, right, 0, 0);
                        };
                chunks += hasRoom ? 1 : 0;
            }
            assertThat(join.inFlightCount()).isEqualTo(chunks);
            for (int i = 0; i < chunks; i++) {
                int rightRows = i / 2;
                SymmetricBatch batch = join.poll();
                assertThat(batch.isLast()).isTrue();
                assertThat(batch.resultCount())
                        .isEqualTo(i % 2 == 0 ? rightRows : i % 4 == 1 ? 1 : 0);
            }
            assertThat(join.poll()).isNull();
            assertThat(join.inFlightCount()).isZero();
        }
    }

    @Test
    void shouldCopyTransientChunks() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, RowIdentity.APPEND_ONLY))) {
            ChunkBuilder builder = new ChunkBuilder(TestInputs.SCHEMA, 200);
            SymmetricInput input = join.inputs().get(LEFT);
            for (int id = 0; id < 3; id++) {
                TestInputs.addRow(builder, input, insert(id));
                join(join, LEFT, builder.sealTransient(-1, 0, 0, 0), 0, 0);
            }
            assertThat(submit(join, RIGHT, INSERT, RIGHT_ROW))
                    .extracting(result -> result.left().id())
                    .containsExactlyInAnyOrder(0, 1, 2);
        }
    }

    @Test
    void shouldCopyRowsByPartition() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, RowIdentity.APPEND_ONLY))) {
            for (int id = 0; id < 10; id++) {
                Chunk chunk =
                        TestInputs.chunk(
                                join.inputs().get(LEFT),
                                id % 2,
                                List.of(new Change(INSERT, new Row(id % 2, id))));
                join(join, LEFT, chunk, 0, id);
            }
            List<Integer> ids = new ArrayList<>();
            join.copyRows(
                    LEFT,
                    1,
                    rows -> {
                        assertThat(rows.chunk().partition()).isOne();
                        for (int row = 0; row < rows.chunk().rowCount(); row++) {
                            ids.add(rows.chunk().getInt(TestInputs.ID, row));
                        }
                    });
            assertThat(ids).containsExactly(1, 3, 5, 7, 9);
        }
    }

    // ------------------------------------------------------------------ memory

    /** Reservations up to a limit. */
    private static final class Limit implements MemoryReservations {

        private final long limitBytes;
        private long reservedBytes;

        private Limit(long limitBytes) {
            this.limitBytes = limitBytes;
        }

        @Override
        public void reserve(long lengthBytes) {
            if (lengthBytes > availableBytes()) {
                throw new MemoryRefusedException("no room: lengthBytes=" + lengthBytes, null);
            }
            reservedBytes += lengthBytes;
        }

        @Override
        public void release(long lengthBytes) {
            reservedBytes -= lengthBytes;
        }

        @Override
        public long availableBytes() {
            return limitBytes - reservedBytes;
        }
    }

    @ParameterizedTest
    @EnumSource(RowIdentity.class)
    void shouldFailCleanlyIfMemoryIsRefused(RowIdentity identity) {
        Limit limit = new Limit(4 << 20);
        SymmetricJoin join =
                create(spec(BulkJoinKind.LEFT, identity), MatchCondition.ALWAYS, limit);
        join.finishLoad(0);
        assertThatExceptionOfType(MemoryRefusedException.class)
                .isThrownBy(
                        () -> {
                            for (int i = 0; i < 1_000; i++) {
                                join(join, LEFT, distinctKeys(join, i), 0, 0);
                            }
                        });
        assertThatIllegalStateException().isThrownBy(join::poll).withMessageContaining("FAILED");
        assertThat(join.stats().memoryBytes()).isPositive();
        join.close();
        assertThat(limit.reservedBytes).isZero();
    }

    @ParameterizedTest
    @EnumSource(RowIdentity.class)
    void shouldReserveNoMemoryAmidTheResultsOfARow(RowIdentity identity) {
        SymmetricJoinSpec spec =
                new SymmetricJoinSpec(
                        TestInputs.input("l", RowIdentity.APPEND_ONLY, false),
                        TestInputs.input("r", identity, false),
                        BulkJoinKind.INNER);
        SwitchedMemory memory = new SwitchedMemory();
        try (SymmetricJoin join = create(spec, MatchCondition.ALWAYS, memory)) {
            join.finishLoad(0);
            join(join, LEFT, inserts(join, LEFT, 6_000, 0), 0, 0);
            Chunk right =
                    TestInputs.chunk(spec.input(JoinSide.RIGHT), 0, TestInputs.growing(100, 5));
            assertThat(memory.joinRefusingAmidRows(join, RIGHT, right)).isGreaterThanOrEqualTo(100);
        }
    }

    private static Chunk distinctKeys(SymmetricJoin join, int number) {
        return TestInputs.chunk(
                join.inputs().get(LEFT),
                0,
                IntStream.range(number * 1_000, (number + 1) * 1_000)
                        .mapToObj(id -> new Change(INSERT, new Row(id, id)))
                        .toList());
    }

    @ParameterizedTest
    @EnumSource(names = "APPEND_ONLY", mode = EnumSource.Mode.EXCLUDE)
    void shouldBoundMemoryByTheRowsInTheTables(RowIdentity identity) {
        Limit limit = new Limit(8 << 20);
        try (SymmetricJoin join =
                create(spec(BulkJoinKind.FULL, identity), MatchCondition.ALWAYS, limit)) {
            join.finishLoad(0);
            for (int round = 0; round < 200; round++) {
                List<Change> changes = new ArrayList<>();
                for (int key = 0; key < 500; key++) {
                    if (round > 0) {
                        changes.add(
                                new Change(
                                        UPDATE_BEFORE, new Row((long) key, key, round - 1, "x")));
                    }
                    changes.add(new Change(UPDATE_AFTER, new Row((long) key, key, round, "x")));
                }
                for (int input : new int[] {LEFT, RIGHT}) {
                    join(join, input, TestInputs.chunk(join.inputs().get(input), 0, changes), 0, 0);
                }
            }
            assertThat(join.stats().tableRows().get(LEFT)).isEqualTo(500);
            assertThat(join.stats().memoryBytes()).isLessThan(4 << 20);
            assertThat(join.stats().unknownRetractions()).isZero();
        }
        assertThat(limit.reservedBytes).isZero();
    }

    // ------------------------------------------------------------------ states and checks

    @Test
    void shouldFreeAllMemoryInAnyState() {
        for (int state = 0; state < 4; state++) {
            Limit limit = new Limit(8 << 20);
            SymmetricJoin join =
                    create(
                            spec(BulkJoinKind.FULL, RowIdentity.MULTISET),
                            MatchCondition.ALWAYS,
                            limit);
            if (state > 0) {
                join.load(LEFT, inserts(join, LEFT, 5_000, 0), 0);
            }
            if (state > 1) {
                join.finishLoad(0);
                join.submit(RIGHT, inserts(join, RIGHT, 5, 0), 0, 0);
            }
            if (state > 2) {
                assertThat(join.poll().isLast()).isFalse();
            }
            join.close();
            join.close();
            assertThat(limit.reservedBytes).isZero();
            assertThat(join.stats().memoryBytes()).isZero();
        }
    }

    @Test
    void shouldRejectCallsInOtherStates() {
        SymmetricJoin join =
                create(
                        spec(BulkJoinKind.INNER, RowIdentity.APPEND_ONLY),
                        MatchCondition.ALWAYS,
                        MemoryReservations.unlimited());
        Chunk chunk = inserts(join, LEFT, 2, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> join.submit(LEFT, chunk, 0, 0))
                .withMessageContaining("LOADING");
        assertThatIllegalStateException().isThrownBy(join::poll);
        assertThatIllegalStateException().isThrownBy(() -> join.expire(0));
        join.finishLoad(0);
        assertThatIllegalStateException()
                .isThrownBy(() -> join.load(LEFT, chunk, 0))
                .withMessageContaining("JOINING");
        assertThatIllegalStateException().isThrownBy(() -> join.finishLoad(0));
        join.submit(LEFT, chunk, 0, 0);
        assertThatIllegalStateException()
                .isThrownBy(() -> join.copyRows(LEFT, 0, rows -> {}))
                .withMessageContaining("inFlight=1");
        assertThatIllegalStateException().isThrownBy(() -> join.expire(0));
        join.close();
        assertThatIllegalStateException().isThrownBy(join::poll).withMessageContaining("CLOSED");
    }

    @Test
    void shouldRejectWrongChunks() {
        try (SymmetricJoin join = open(spec(BulkJoinKind.INNER, RowIdentity.MULTISET))) {
            ChunkSchema other = ChunkSchema.of(Column.of("key", ColumnType.INT32));
            assertThatIllegalArgumentException()
                    .isThrownBy(
                            () -> join.submit(LEFT, TestChunks.of(other, new Object[] {1}), 0, 0))
                    .withMessageContaining("input=l");
            Chunk unknown =
                    TestChunks.of(
                            TestInputs.SCHEMA, new Object[] {1L, 0, 0, 0, 9, null, new byte[8]});
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> join.submit(RIGHT, unknown, 0, 0))
                    .withMessage("Row has an unknown change: input=r, row=0");
            Chunk chunk = inserts(join, LEFT, 2, 0);
            assertThatIllegalArgumentException()
                    .isThrownBy(() -> join.submit(LEFT, chunk, 3, 0))
                    .withMessageContaining("firstRow=3, rowCount=2");
            assertThat(join.inFlightCount()).isZero();
        }
    }
}
