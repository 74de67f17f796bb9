// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import static org.assertj.core.api.Assertions.assertThat;

import io.github.gpujoin.core.layout.Chunk;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.apache.flink.runtime.checkpoint.OperatorSubtaskState;
import org.apache.flink.runtime.state.KeyGroupRangeAssignment;
import org.apache.flink.streaming.util.AbstractStreamOperatorTestHarness;
import org.apache.flink.table.data.RowData;

/** All subtasks of a join, whose results are compared with those of Flink's own operator. */
final class JoinSubtasks implements AutoCloseable {

    /** An operator that joins row by row. */
    @FunctionalInterface
    interface RowJoin {

        /** Joins a row, and returns its results. */
        List<RowData> accept(int input, RowData row) throws Exception;
    }

    private final JoinShape shape;
    private final RowJoin oracle;
    private final List<SymmetricHarness> harnesses = new ArrayList<>();
    private long checkpoint;

    JoinSubtasks(JoinShape shape, RowJoin oracle) throws Exception {
        this.shape = shape;
        this.oracle = oracle;
        harnesses.add(SymmetricHarness.open(shape, 1, 0, null));
    }

    /**
     * Joins random changes, with restarts and rescaling in between.
     *
     * @param changes of each input
     */
    void verify(List<RandomChanges> changes, int steps, Random random, String description)
            throws Exception {
        for (int step = 0; step < steps; step++) {
            int input = random.nextInt(changes.size());
            List<RowData> rows = new ArrayList<>();
            for (int i = random.nextInt(4); i >= 0; i--) {
                rows.addAll(changes.get(input).next());
            }
            for (List<RowData> ofPartition : byPartition(input, rows)) {
                verify(input, ofPartition, description + ", step=" + step);
            }
            if (random.nextInt(20) == 0) {
                restart(1 + random.nextInt(3));
            }
        }
    }

    /** Rows of equal partitions are adjacent, as in a chunk. Rows without one are alone. */
    private List<List<RowData>> byPartition(int input, List<RowData> rows) throws Exception {
        List<List<RowData>> partitions = new ArrayList<>();
        IntStream.range(0, JoinShape.PARTITIONS)
                .forEach(partition -> partitions.add(new ArrayList<>()));
        for (RowData row : rows) {
            List<Chunk> chunks = shape.chunks(input, List.of(row));
            if (chunks.isEmpty()) {
                partitions.add(List.of(row));
            } else {
                partitions.get(chunks.get(0).partition()).add(row);
            }
        }
        return partitions.stream().filter(rowsOf -> !rowsOf.isEmpty()).toList();
    }

    private void verify(int input, List<RowData> rows, String description) throws Exception {
        List<RowData> results = new ArrayList<>();
        for (Chunk chunk : shape.chunks(input, rows)) {
            int owner =
                    KeyGroupRangeAssignment.computeOperatorIndexForKeyGroup(
                            JoinShape.PARTITIONS, harnesses.size(), chunk.partition());
            harnesses.get(owner).accept(input, chunk);
            harnesses.get(owner).runMails();
            results.addAll(harnesses.get(owner).takeResults());
        }
        int next = 0;
        for (RowData row : rows) {
            List<String> expected = texts(oracle.accept(input, row));
            int end = Math.min(results.size(), next + expected.size());
            assertThat(texts(results.subList(next, end)))
                    .as(description + ", row=" + text(row))
                    .isEqualTo(expected);
            next = end;
        }
        assertThat(results.size()).as(description).isEqualTo(next);
    }

    private List<String> texts(List<RowData> rows) {
        return rows.stream().map(this::text).sorted().toList();
    }

    private String text(RowData row) {
        StringBuilder text = new StringBuilder(row.getRowKind().shortString());
        for (int column = 0; column < row.getArity(); column++) {
            text.append(' ');
            if (row.isNullAt(column)) {
                text.append("null");
            } else if (column % 3 == JoinShape.ID
                    || column % 3 == JoinShape.KEY && !shape.hasTextKeys()) {
                text.append(row.getInt(column));
            } else {
                text.append(row.getString(column));
            }
        }
        return text.toString();
    }

    private void restart(int parallelism) throws Exception {
        List<OperatorSubtaskState> states = new ArrayList<>();
        for (SymmetricHarness harness : harnesses) {
            states.add(harness.checkpoint(++checkpoint));
        }
        close();
        RefusedMemory.restart();
        LostDevice.restart();
        OperatorSubtaskState all =
                AbstractStreamOperatorTestHarness.repackageState(
                        states.toArray(OperatorSubtaskState[]::new));
        for (int subtask = 0; subtask < parallelism; subtask++) {
            OperatorSubtaskState own =
                    AbstractStreamOperatorTestHarness.repartitionOperatorState(
                            all, JoinShape.PARTITIONS, states.size(), parallelism, subtask);
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
