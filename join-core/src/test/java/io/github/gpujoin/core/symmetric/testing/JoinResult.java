// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A result of a symmetric join. */
public record JoinResult(ChangeKind kind, @Nullable Row left, @Nullable Row right) {

    /** Returns the results of a batch. */
    public static List<JoinResult> of(SymmetricBatch batch) {
        List<JoinResult> results = new ArrayList<>();
        for (int i = 0; i < batch.resultCount(); i++) {
            results.add(
                    new JoinResult(
                            batch.kind(i),
                            row(batch, JoinSide.LEFT, i),
                            row(batch, JoinSide.RIGHT, i)));
        }
        return results;
    }

    private static @Nullable Row row(SymmetricBatch batch, JoinSide side, int result) {
        Chunk chunk = batch.chunk(side, result);
        return chunk == null ? null : TestInputs.row(chunk, batch.row(side, result));
    }

    /** Submits a chunk to a join without chunks in flight, and returns all results. */
    public static List<JoinResult> join(
            SymmetricJoin join, JoinSide side, Chunk chunk, int firstRow, long timeMs) {
        if (!join.submit(side, chunk, firstRow, timeMs)) {
            throw new AssertionError("an idle join has room");
        }
        List<JoinResult> results = new ArrayList<>();
        int completedRows = firstRow;
        SymmetricBatch batch;
        do {
            batch = join.poll();
            results.addAll(of(batch));
            if (batch.completedRows() < completedRows) {
                throw new AssertionError("completed rows decrease: " + batch.completedRows());
            }
            completedRows = batch.completedRows();
        } while (!batch.isLast());
        if (completedRows != chunk.rowCount() || join.inFlightCount() != 0) {
            throw new AssertionError("the last batch completes all rows: " + completedRows);
        }
        return results;
    }
}
