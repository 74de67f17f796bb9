// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import java.util.Map;
import java.util.function.Consumer;

/** Turns batches of row numbers into results. Reserves its memory when created. */
interface BulkResultWriter {

    /** Returns the maximum rows of a batch. */
    long batchRows();

    /** Returns whether a batch needs its row numbers; otherwise it is only counted. */
    boolean needsRows();

    /** Takes a batch, after {@link #writeMore} has returned false. */
    void write(BulkBatch batch, Consumer<BulkResult> results);

    /**
     * Writes more of the last batches, at most one result: results of few batches could otherwise
     * fill the heap. After an interrupt, a further call continues.
     *
     * @return false if there is room for a batch
     */
    default boolean writeMore(Consumer<BulkResult> results) throws InterruptedException {
        return false;
    }

    /** Passes on what is left. After an interrupt, a further call continues. */
    void finish(Consumer<BulkResult> results) throws InterruptedException;

    /**
     * Creates a writer of the results of a join.
     *
     * @param memory owner of its memory
     */
    static BulkResultWriter of(
            BulkJoinSpec spec,
            BulkDevice device,
            BulkMemory memory,
            Map<JoinSide, BulkRunLayout> layouts) {
        if (spec.output() instanceof BulkOutput.Rows) {
            return new BulkRowWriter(spec, device, memory, layouts);
        }
        return spec.output() instanceof BulkOutput.Groups output
                ? new BulkGroupWriter(output.aggregation(), device, memory, layouts)
                : ofCount();
    }

    /** Counts results. */
    static BulkResultWriter ofCount() {
        return new BulkResultWriter() {
            private long rows;

            @Override
            public long batchRows() {
                return Long.MAX_VALUE;
            }

            @Override
            public boolean needsRows() {
                return false;
            }

            @Override
            public void write(BulkBatch batch, Consumer<BulkResult> results) {
                rows += batch.count();
            }

            @Override
            public void finish(Consumer<BulkResult> results) {
                results.accept(new BulkResult.Count(rows));
            }
        };
    }
}
