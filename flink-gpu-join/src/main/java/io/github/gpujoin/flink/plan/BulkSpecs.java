// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.bulk.BulkInput;
import io.github.gpujoin.core.bulk.BulkJoinKind;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkOutput;
import io.github.gpujoin.core.engine.DimensionSpec;
import io.github.gpujoin.core.engine.JoinSpec;
import java.util.List;
import java.util.stream.IntStream;

/** Describes joins of one dimension as bulk joins, whose left input are the facts. */
final class BulkSpecs {

    private BulkSpecs() {}

    /**
     * Returns a bulk join whose results have all columns that emitters read.
     *
     * @param spec of the emitters
     * @param facts name of the facts
     * @param factKey column of the facts that the join compares: the integer of an exact key, or
     *     the bytes of another one
     * @param key the same of the dimension
     */
    static BulkJoinSpec of(JoinSpec spec, BulkJoinKind kind, String facts, int factKey, int key) {
        DimensionSpec dimension = spec.dimensions().get(0);
        return new BulkJoinSpec(
                new BulkInput(facts, spec.factSchema(), List.of(factKey)),
                new BulkInput(dimension.name(), dimension.schema(), List.of(key)),
                kind,
                false,
                new BulkOutput.Rows(
                        IntStream.range(0, spec.factSchema().size()).boxed().toList(),
                        columns(dimension, kind)));
    }

    /** Emitters read the integer of a key from the facts, unless there is no fact. */
    private static List<Integer> columns(DimensionSpec dimension, BulkJoinKind kind) {
        if (!kind.returnsPairs()) {
            return List.of();
        }
        boolean mayLackFact = kind == BulkJoinKind.RIGHT || kind == BulkJoinKind.FULL;
        return IntStream.range(0, dimension.schema().size())
                .filter(column -> mayLackFact || column != dimension.keyColumn())
                .boxed()
                .toList();
    }
}
