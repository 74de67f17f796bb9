// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.MatchCondition;
import org.apache.flink.util.FlinkRuntimeException;

/** Evaluates a condition on the rows that are stored in chunks. */
final class RowMatchCondition implements MatchCondition {

    private final RowPairCondition condition;
    private final StoredRows left;
    private final StoredRows right;

    RowMatchCondition(RowPairCondition condition, int leftColumns, int rightColumns) {
        this.condition = condition;
        this.left = new StoredRows(leftColumns);
        this.right = new StoredRows(rightColumns);
    }

    @Override
    public boolean matches(Chunk leftChunk, int leftRow, Chunk rightChunk, int rightRow) {
        try {
            return condition.matches(left.at(leftChunk, leftRow), right.at(rightChunk, rightRow));
        } catch (Exception e) {
            throw new FlinkRuntimeException("The condition of a join failed.", e);
        }
    }
}
