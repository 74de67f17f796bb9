// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.ResultBatch;
import org.jspecify.annotations.Nullable;

/** Makes the records of a build side, null for rows that have no match there. */
final class MatchedAssembler<T> implements RecordAssembler<T> {

    private final RecordAssembler<T> matches;
    private ResultBatch batch;

    MatchedAssembler(RecordAssembler<T> matches) {
        this.matches = matches;
    }

    @Override
    public boolean reusesRecord() {
        return matches.reusesRecord();
    }

    @Override
    public void bind(ResultBatch batch) {
        this.batch = batch;
        matches.bind(batch);
    }

    @Override
    public void load(int fromRow, int toRow) {
        matches.load(fromRow, toRow);
    }

    @Override
    public @Nullable T assemble(int row, int probeRow) throws Exception {
        return batch.isMatched(0, row) ? matches.assemble(row, probeRow) : null;
    }
}
