// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import java.util.List;

/** How the kernel writes the results of a step to a result buffer, and how the host reads them. */
interface ResultFormat {

    /**
     * Chooses the format of an engine.
     *
     * @param tables of all dimensions, complete
     * @param buffers owner of the memory to which packed results are unpacked
     */
    static ResultFormat of(
            JoinSpec spec, List<GpuTable> tables, GpuOptions options, Buffers buffers) {
        int rows = options.segmentRows();
        int capacityRows = spec.isAggregating() ? 1 : rows;
        return of(spec, tables, options.packResults(), rows, capacityRows, buffers);
    }

    /**
     * Chooses the format of a join.
     *
     * @param tables of all dimensions, complete
     * @param packs whether results are packed if the join allows it
     * @param segmentRows maximum rows of a segment
     * @param capacityRows rows of a result buffer, at least
     * @param buffers owner of the memory to which packed results are unpacked
     */
    static ResultFormat of(
            JoinSpec spec,
            List<GpuTable> tables,
            boolean packs,
            int segmentRows,
            int capacityRows,
            Buffers buffers) {
        return packs && PackedResults.supports(spec, tables)
                ? new PackedResults(spec, tables, segmentRows, capacityRows, buffers)
                : new PlainResults(spec, capacityRows);
    }

    /** Reads result buffers, one after the other. */
    interface Reader {

        /**
         * Describes the results of a step. The batch is valid until the next call.
         *
         * @param buffer address of the result buffer
         * @param firstRow row of the chunk at which the step began
         * @param rowCount results in the buffer
         * @param completedRows leading rows of the chunk whose results are complete
         */
        ResultBatch read(long buffer, Chunk chunk, int firstRow, int rowCount, int completedRows);
    }

    /** Returns the bytes of a result buffer. */
    long bufferBytes();

    /** Returns the maximum results in a buffer. */
    int capacityRows();

    boolean isPacked();

    /**
     * Returns a column of a dimension.
     *
     * @param payload the number of payload columns stands for the variable-width references
     */
    ResultColumn column(int dimension, int payload);

    /** Returns the offset of what tells whether a left join has a match; 0 for other joins. */
    long matchedOffset(int dimension);

    /** Returns the bytes that a result takes in a buffer, if every fact has one. */
    double resultBytes();

    /** Returns a layout of results as they are read. */
    ResultLayout newLayout();

    /**
     * Returns a reader.
     *
     * @param layout of its batches, from {@link #newLayout}; another object tells users of batches
     *     that addresses of variable-width columns have changed
     */
    Reader newReader(ResultLayout layout);
}
