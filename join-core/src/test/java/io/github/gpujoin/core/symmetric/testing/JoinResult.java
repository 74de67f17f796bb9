// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.core.symmetric.testing;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.symmetric.ChangeKind;
import io.github.gpujoin.core.symmetric.SymmetricBatch;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.testing.TestInputs.Row;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A result of a symmetric join. */
public record JoinResult(ChangeKind kind, List<@Nullable Row> rows) {

    /** Creates a result of two inputs. */
    public JoinResult(ChangeKind kind, @Nullable Row left, @Nullable Row right) {
        this(kind, Arrays.asList(left, right));
    }

    public @Nullable Row left() {
        return rows.get(0);
    }

    public @Nullable Row right() {
        return rows.get(1);
    }

    /** Returns the results of a batch of a join. */
    public static List<JoinResult> of(SymmetricJoin join, SymmetricBatch batch) {
        List<JoinResult> results = new ArrayList<>();
        for (int i = 0; i < batch.resultCount(); i++) {
            List<@Nullable Row> rows = new ArrayList<>();
            for (int input = 0; input < join.inputs().size(); input++) {
                Chunk chunk = batch.chunk(input, i);
                rows.add(chunk == null ? null : TestInputs.row(chunk, batch.row(input, i)));
            }
            results.add(new JoinResult(batch.kind(i), rows));
        }
        return results;
    }

    /** Submits a chunk to a join without chunks in flight, and returns all results. */
    public static List<JoinResult> join(
            SymmetricJoin join, int input, Chunk chunk, int firstRow, long timeMs) {
        if (!join.submit(input, chunk, firstRow, timeMs)) {
            throw new AssertionError("an idle join has room");
        }
        List<JoinResult> results = new ArrayList<>();
        int completedRows = firstRow;
        SymmetricBatch batch;
        do {
            batch = join.poll();
            results.addAll(of(join, batch));
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
