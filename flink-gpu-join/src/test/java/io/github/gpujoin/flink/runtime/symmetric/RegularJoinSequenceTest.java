// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.reference.ReferenceSymmetricJoinFactory;
import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.core.symmetric.SymmetricInput;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.CpuSymmetricJoinFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * The operator returns the same results in the same order as Flink's own operator, which receives
 * the same rows one by one and is never restarted.
 */
class RegularJoinSequenceTest {

    private static final int STEPS = 150;

    private static final RowPairCondition.Factory SMALLER_ID =
            context -> (left, right) -> left.getInt(1) <= right.getInt(1) + 1;

    static Stream<Arguments> shapes() {
        List<Arguments> shapes = new ArrayList<>();
        Random random = new Random(20261127);
        for (BulkJoinKind kind : BulkJoinKind.values()) {
            for (RowIdentity left : RowIdentity.values()) {
                RowIdentity right = RowIdentity.values()[random.nextInt(4)];
                shapes.add(
                        Arguments.of(
                                kind,
                                left,
                                right,
                                random.nextBoolean(),
                                random.nextBoolean(),
                                random.nextLong(1000)));
            }
        }
        return shapes.stream();
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheResultsOfFlinksJoinOverRestartsAndRescaling(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        SymmetricJoinFactory engine = new CpuSymmetricJoinFactory();
        verify(kind, left, right, hasTextKeys, hasCondition, engine, seed);
    }

    /** Every restart begins without spilled partitions. */
    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheSameResultsIfPartitionsExceedMemory(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        RefusedMemory.reset(seed);
        SymmetricJoinFactory engine = new RefusedMemory(new ReferenceSymmetricJoinFactory());
        verify(kind, left, right, hasTextKeys, hasCondition, engine, seed);
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }

    @ParameterizedTest(name = "{0}, left {1}, right {2}, text={3}, condition={4}, seed={5}")
    @MethodSource("shapes")
    void shouldReturnTheSameResultsIfChunksExceedMemory(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            long seed)
            throws Exception {
        RefusedMemory.reset(seed);
        SymmetricJoinFactory engine = new RefusedMemory(new CpuSymmetricJoinFactory());
        verify(kind, left, right, hasTextKeys, hasCondition, engine, seed);
        assertThat(RefusedMemory.refusals()).as("refusals of memory").isPositive();
    }

    private static void verify(
            BulkJoinKind kind,
            RowIdentity left,
            RowIdentity right,
            boolean hasTextKeys,
            boolean hasCondition,
            SymmetricJoinFactory engine,
            long seed)
            throws Exception {
        RegularJoinShape shape =
                new RegularJoinShape(
                        kind,
                        left,
                        right,
                        hasTextKeys,
                        hasCondition ? SMALLER_ID : null,
                        SymmetricInput.FOREVER,
                        SymmetricInput.FOREVER,
                        engine,
                        0);
        Random random = new Random(seed);
        RandomChanges leftChanges = new RandomChanges(shape, JoinSide.LEFT, random);
        RandomChanges rightChanges = new RandomChanges(shape, JoinSide.RIGHT, random);
        try (FlinkRegularJoin oracle = new FlinkRegularJoin(shape);
                Subtasks subtasks = new Subtasks(shape)) {
            for (int step = 0; step < STEPS; step++) {
                JoinSide side = random.nextBoolean() ? JoinSide.LEFT : JoinSide.RIGHT;
                RandomChanges changes = side == JoinSide.LEFT ? leftChanges : rightChanges;
                List<RowData> rows = new ArrayList<>();
                for (int i = random.nextInt(4); i >= 0; i--) {
                    rows.addAll(changes.next());
                }
                for (List<RowData> ofPartition : byPartition(shape, side, rows)) {
                    subtasks.verify(oracle, side, ofPartition, "seed=%d, step=%d", seed, step);
                }
                if (random.nextInt(20) == 0) {
                    subtasks.restart(1 + random.nextInt(3));
                }
            }
        }
    }

    /** Rows of equal partitions are adjacent, as in a chunk. Rows without one are alone. */
    private static List<List<RowData>> byPartition(
            RegularJoinShape shape, JoinSide side, List<RowData> rows) throws Exception {
        List<List<RowData>> partitions = new ArrayList<>();
        IntStream.range(0, RegularJoinShape.PARTITIONS)
                .forEach(partition -> partitions.add(new ArrayList<>()));
        for (RowData row : rows) {
            List<Chunk> chunks = shape.chunks(side, List.of(row));
            if (chunks.isEmpty()) {
                partitions.add(List.of(row));
            } else {
                partitions.get(chunks.get(0).partition()).add(row);
            }
        }
        return partitions.stream().filter(rowsOf -> !rowsOf.isEmpty()).toList();
    }

    /** All subtasks of the operator. */
    private static final class Subtasks implements AutoCloseable {

        private final RegularJoinShape shape;
        private final List<SymmetricHarness> harnesses = new ArrayList<>();
        private long checkpoint;

        Subtasks(RegularJoinShape shape) throws Exception {
            this.shape = shape;
            harnesses.add(SymmetricHarness.open(shape, 1, 0, null));
        }

        void verify(
                FlinkRegularJoin oracle,
                JoinSide side,
                List<RowData> rows,
                String description,
                Object... values)
                throws Exception {
            List<RowData> results = new ArrayList<>();
            for (Chunk chunk : shape.chunks(side, rows)) {
                int owner =
                        KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                                RegularJoinShape.PARTITIONS, harnesses.size(), chunk.partition());
                harnesses.get(owner).accept(side, chunk);
                harnesses.get(owner).runMails();
                results.addAll(harnesses.get(owner).takeResults());
            }
            int next = 0;
            for (RowData row : rows) {
                List<String> expected = texts(oracle.accept(side, row));
                int end = Math.min(results.size(), next + expected.size());
                assertThat(texts(results.subList(next, end)))
                        .as(description + ", row=" + text(row), values)
                        .isEqualTo(expected);
                next = end;
            }
            assertThat(results.size()).as(description, values).isEqualTo(next);
        }

        private List<String> texts(List<RowData> rows) {
            return rows.stream().map(this::text).sorted().toList();
        }

        private String text(RowData row) {
            StringBuilder text = new StringBuilder(row.getRowKind().shortString());
            boolean isWide = row.getArity() > 3;
            for (int side = 0; side < (isWide ? 2 : 1); side++) {
                for (int column = 3 * side; column < 3 * side + 3; column++) {
                    text.append(' ');
                    if (row.isNullAt(column)) {
                        text.append("null");
                    } else if (column % 3 == RegularJoinShape.ID) {
                        text.append(row.getInt(column));
                    } else if (column % 3 == RegularJoinShape.KEY && !shape.hasTextKeys()) {
                        text.append(row.getInt(column));
                    } else {
                        text.append(row.getString(column));
                    }
                }
            }
            return text.toString();
        }

        void restart(int parallelism) throws Exception {
            List<OperatorSubtaskState> states = new ArrayList<>();
            for (SymmetricHarness harness : harnesses) {
                states.add(harness.checkpoint(++checkpoint));
            }
            close();
            RefusedMemory.restart();
            OperatorSubtaskState all =
                    AbstractStreamOperatorTestHarness.repackageState(
                            states.toArray(OperatorSubtaskState[]::new));
            for (int subtask = 0; subtask < parallelism; subtask++) {
                OperatorSubtaskState own =
                        AbstractStreamOperatorTestHarness.repartitionOperatorState(
                                all,
                                RegularJoinShape.PARTITIONS,
                                states.size(),
                                parallelism,
                                subtask);
                harnesses.add(SymmetricHarness.open(shape, parallelism, subtask, own));
            }
        }

        @Override
        public void close() throws Exception {
            for (SymmetricHarness harness : harnesses) {
                harness.close();
            }
            harnesses.clear();
        }
    }
}
