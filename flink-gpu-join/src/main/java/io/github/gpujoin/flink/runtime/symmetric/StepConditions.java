// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.MultiJoinCondition;
import java.util.List;
import org.apache.flink.table.data.GenericRowData;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.data.utils.JoinedRowData;
import org.apache.flink.util.FlinkRuntimeException;
import org.jspecify.annotations.Nullable;

/** Evaluates the conditions of all steps on the rows that are stored in chunks. */
final class StepConditions implements MultiJoinCondition {

    private final int[][] presentInputs;
    private final List<@Nullable RowPairCondition> conditions;
    private final StoredRows[] stored;
    private final RowData[] missing;

    /** The rows of the inputs up to each one, concatenated. */
    private final JoinedRowData[] joined;

    /**
     * @param columns number of columns of the rows of each input
     */
    StepConditions(
            List<MultiInputPlan.Step> steps,
            List<@Nullable RowPairCondition> conditions,
            List<Integer> columns) {
        this.presentInputs =
                steps.stream()
                        .map(
                                step ->
                                        step.presentInputs().stream()
                                                .mapToInt(Integer::intValue)
                                                .toArray())
                        .toArray(int[][]::new);
        this.conditions = conditions;
        this.stored = columns.stream().map(StoredRows::new).toArray(StoredRows[]::new);
        this.missing = columns.stream().map(GenericRowData::new).toArray(RowData[]::new);
        this.joined = new JoinedRowData[columns.size()];
        for (int i = 0; i < joined.length; i++) {
            joined[i] = new JoinedRowData();
        }
    }

    @Override
    public boolean matches(int input, @Nullable Chunk[] chunks, int[] rows) {
        for (int present : presentInputs[input]) {
            if (chunks[present] == null) {
                return false;
            }
        }
        RowPairCondition condition = conditions.get(input);
        if (condition == null) {
            return true;
        }
        RowData left = row(0, chunks, rows);
        for (int i = 1; i < input; i++) {
            left = joined[i].replace(left, row(i, chunks, rows));
        }
        try {
            return condition.matches(left, row(input, chunks, rows));
        } catch (Exception e) {
            throw new FlinkRuntimeException("The condition of a join failed.", e);
        }
    }

    private RowData row(int input, @Nullable Chunk[] chunks, int[] rows) {
        Chunk chunk = chunks[input];
        return chunk == null ? missing[input] : stored[input].at(chunk, rows[input]);
    }
}
