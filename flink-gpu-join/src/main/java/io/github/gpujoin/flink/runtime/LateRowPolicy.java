// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.flink.api.options.LateDimensionRows;
import java.io.Serializable;
import java.util.Map;
import org.apache.flink.types.Row;
import org.apache.flink.util.OutputTag;

/**
 * Treatment of rows that arrive after their dimension is complete. Serialized with the job.
 *
 * @param otherwise for dimensions without a side output
 * @param sideOutputs by number of the dimension; these rows are counted too
 */
public record LateRowPolicy(LateDimensionRows otherwise, Map<Integer, OutputTag<Row>> sideOutputs)
        implements Serializable {

    public LateRowPolicy {
        sideOutputs = Map.copyOf(sideOutputs);
    }

    /** The same for all dimensions. */
    public static LateRowPolicy of(LateDimensionRows rows) {
        return new LateRowPolicy(rows, Map.of());
    }
}
