// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.emit;

import io.github.gpujoin.core.engine.JoinKind;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.engine.ResultBatch;
import io.github.gpujoin.core.layout.VariableWidthColumn;
import io.github.gpujoin.core.region.Memory;

/** Compares keys of facts with those of their candidates in one dimension. Not thread-safe. */
final class KeyComparison {

    private final int dimension;
    private final JoinKind kind;
    private final FieldReader fact;
    private final FieldReader candidate;
    private final int rowPayload;
    private ResultBatch batch;

    KeyComparison(JoinSpec spec, HashedDimension verified) {
        this.dimension = verified.dimension();
        this.kind = verified.kind();
        this.fact = FieldReader.ofMatches(spec, verified.factBytes());
        this.candidate = FieldReader.ofMatches(spec, verified.bytes());
        this.rowPayload = spec.dimensions().get(dimension).payloadColumns().indexOf(verified.row());
        if (HashedDimension.numbersRows(kind) && rowPayload < 0) {
            throw new IllegalArgumentException(
                    "Build rows of hashed keys have no row numbers: dimension="
                            + spec.dimensions().get(dimension).name()
                            + ", kind="
                            + kind);
        }
    }

    int dimension() {
        return dimension;
    }

    JoinKind kind() {
        return kind;
    }

    void bind(ResultBatch batch) {
        this.batch = batch;
        fact.bind(batch);
        candidate.bind(batch);
    }

    /** Loads the keys of candidates, which all rows have, ahead of {@link #areEqual}. */
    void load(int fromRow, int toRow) {
        candidate.load(fromRow, toRow);
    }

    /** Whether the row has a candidate. */
    boolean hasCandidate(int row) {
        return batch.isMatched(dimension, row);
    }

    /** Whether the keys of fact and candidate are equal, as their hashes are. */
    boolean areEqual(int row, int probeRow) {
        return VariableWidthColumn.areEqual(
                fact.base(),
                fact.locate(row, probeRow),
                candidate.base(),
                candidate.locate(row, probeRow));
    }

    /**
     * Returns the first of some rows, all of which have a candidate, whose keys are not equal.
     *
     * @return {@code toRow} if all are equal
     */
    int firstUnequal(int fromRow, int toRow) {
        long probeRows = batch.probeRowAddress();
        for (int row = fromRow; row < toRow; row++) {
            if (!areEqual(row, Memory.getInt(probeRows + 4L * row))) {
                return row;
            }
        }
        return toRow;
    }

    /** Number of the candidate, which it alone has. */
    long candidateRow(int row) {
        return batch.getLong(dimension, rowPayload, row);
    }
}
