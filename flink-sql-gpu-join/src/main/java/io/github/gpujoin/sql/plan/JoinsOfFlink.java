// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.explain.SqlReason;
import io.github.gpujoin.sql.physical.BatchPhysicalFlinkHashJoin;
import io.github.gpujoin.sql.physical.BatchPhysicalFlinkLookupJoin;
import io.github.gpujoin.sql.physical.BatchPhysicalFlinkNestedLoopJoin;
import io.github.gpujoin.sql.physical.BatchPhysicalFlinkSortMergeJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkDeltaJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkIntervalJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkLookupJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkWindowJoin;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.planner.plan.nodes.exec.spec.IntervalJoinSpec.WindowBounds;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalHashJoin;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalJoinBase;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalLookupJoin;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalNestedLoopJoin;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalSortMergeJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalDeltaJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalIntervalJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLookupJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalWindowJoin;
import org.apache.flink.table.planner.plan.utils.IntervalJoinUtil;
import org.apache.flink.table.planner.utils.ShortcutUtils;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Adds the reason to joins of kinds that always stay Flink's. */
final class JoinsOfFlink implements JoinReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(JoinsOfFlink.class);

    @Override
    public RelNode apply(RelNode rel) {
        if (rel.getClass() == StreamPhysicalIntervalJoin.class) {
            StreamPhysicalIntervalJoin join = (StreamPhysicalIntervalJoin) rel;
            return new StreamPhysicalFlinkIntervalJoin(
                    join, bounds(join), logged(rel, SqlReason.INTERVAL_JOIN));
        }
        if (rel.getClass() == StreamPhysicalWindowJoin.class) {
            return new StreamPhysicalFlinkWindowJoin(
                    (StreamPhysicalWindowJoin) rel, logged(rel, SqlReason.WINDOW_JOIN));
        }
        if (rel.getClass() == StreamPhysicalLookupJoin.class) {
            return new StreamPhysicalFlinkLookupJoin(
                    (StreamPhysicalLookupJoin) rel, logged(rel, SqlReason.LOOKUP_JOIN));
        }
        if (rel.getClass() == StreamPhysicalDeltaJoin.class) {
            return new StreamPhysicalFlinkDeltaJoin(
                    (StreamPhysicalDeltaJoin) rel, logged(rel, SqlReason.DELTA_JOIN));
        }
        if (rel.getClass() == BatchPhysicalLookupJoin.class) {
            return new BatchPhysicalFlinkLookupJoin(
                    (BatchPhysicalLookupJoin) rel, logged(rel, SqlReason.LOOKUP_JOIN));
        }
        if (rel.getClass() == BatchPhysicalNestedLoopJoin.class) {
            BatchPhysicalNestedLoopJoin join = (BatchPhysicalNestedLoopJoin) rel;
            SqlReason reason =
                    join.joinSpec().getJoinKeySize() == 0
                            ? SqlReason.NO_EQUAL_COLUMNS
                            : SqlReason.NESTED_LOOP_JOIN;
            return new BatchPhysicalFlinkNestedLoopJoin(join, logged(rel, reason));
        }
        return rel;
    }

    private static SqlReason logged(RelNode join, SqlReason reason) {
        Refusals.log(LOG, join, reason);
        return reason;
    }

    /** Derives the bounds from the condition again, since the node does not show them. */
    private static WindowBounds bounds(StreamPhysicalIntervalJoin join) {
        return IntervalJoinUtil.extractWindowBoundsFromPredicate(
                        join.originalCondition(),
                        join.getLeft().getRowType().getFieldCount(),
                        join.getRowType(),
                        join.getCluster().getRexBuilder(),
                        ShortcutUtils.unwrapTableConfig(join),
                        ShortcutUtils.unwrapClassLoader(join))
                ._1()
                .get();
    }

    /**
     * Returns the node of a hash join or sort-merge join with a reason.
     *
     * @throws IllegalArgumentException if the join is another one
     */
    static RelNode withReason(BatchPhysicalJoinBase join, SqlReason reason) {
        if (join instanceof BatchPhysicalHashJoin hashJoin) {
            return new BatchPhysicalFlinkHashJoin(hashJoin, reason);
        }
        if (join instanceof BatchPhysicalSortMergeJoin sortMergeJoin) {
            return new BatchPhysicalFlinkSortMergeJoin(sortMergeJoin, reason);
        }
        throw new IllegalArgumentException("Neither a hash join nor a sort-merge join: " + join);
    }
}
