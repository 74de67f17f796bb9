// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.filter;

import io.github.gpujoin.flink.api.source.ColumnCondition;
import java.io.Serializable;
import java.util.List;
import org.apache.flink.runtime.jobgraph.OperatorID;

/**
 * Which dimensions filter the facts. Serialized with the job.
 *
 * @param join identifies the join, also among joins of one uid in one job
 * @param operator the join, whose coordinator exchanges filters between processes
 * @param dimensions inner and semi dimensions that do not change once they are complete
 * @param maxBytes limit of the size of each filter
 * @param conditions of the user, which the source of the facts may apply as well
 */
public record FilterPlan(
        String join,
        OperatorID operator,
        List<FilteringDimension> dimensions,
        int maxBytes,
        List<ColumnCondition> conditions)
        implements Serializable {

    /** A join without filters. */
    public static final FilterPlan NONE =
            new FilterPlan("", new OperatorID(0, 0), List.of(), 0, List.of());

    public FilterPlan {
        dimensions = List.copyOf(dimensions);
        conditions = List.copyOf(conditions);
    }

    /** Whether nothing filters the facts. */
    public boolean isEmpty() {
        return dimensions.isEmpty() && conditions.isEmpty();
    }
}
