// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.engine.ResultLayout;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.flink.emit.UnmatchedBuildEmitter.MatchListener;
import io.github.gpujoin.flink.record.RecordLayout;
import java.util.List;

/**
 * The numbers of build rows, which travel through the engine as a payload column, and the build
 * records that are read from chunks rather than from results. Not thread-safe.
 */
final class BuildRowNumbers<A> {

    private final int column;
    private final int payload;
    private final RecordAssembler<A> records;
    private final ResultBatch chunkRows;
    private MatchListener listener = (partition, number) -> {};

    /**
     * @param spec of a join with one dimension
     * @param build {@linkplain RecordLayout#numbered() numbered}
     */
    BuildRowNumbers(JoinSpec spec, RecordLayout<A> build) {
        this.column = build.schema().require(RecordLayout.NUMBER);
        this.payload = spec.dimensions().get(0).payloadColumns().indexOf(column);
        // The build side's rows are read as facts are, from their chunk.
        DimensionSpec any = new DimensionSpec("build", build.schema(), 0, 0, JoinKind.INNER);
        JoinSpec asFacts = new JoinSpec(build.schema(), List.of(any));
        this.records = RecordAssembler.whole(asFacts, ChunkDescriptor.FACTS, build);
        this.chunkRows = new ResultBatch(new ResultLayout(asFacts, 0), 0);
    }

    int column() {
        return column;
    }

    void onMatch(MatchListener listener) {
        this.listener = listener;
    }

    /** Whether the build row's key is null, so that it matches nothing whatever stands for it. */
    boolean hasNullKey(ResultBatch batch, int row) {
        return batch.getLong(0, payload, row) < 0;
    }

    void matched(ResultBatch batch, int row) {
        listener.matched(batch.chunk().partition(), batch.getLong(0, payload, row));
    }

    /** The record of a row of a build chunk. */
    A record(Chunk chunk, int row) throws Exception {
        if (chunkRows.chunk() != chunk) {
            chunkRows.set(chunk, 0, 0);
            records.bind(chunkRows);
        }
        return records.assemble(row, row);
    }
}
