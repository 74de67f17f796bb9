// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.exec.JoinKeys;
import io.github.gpujoin.sql.explain.SqlReason;
import io.github.gpujoin.sql.physical.BatchPhysicalGpuJoin;
import java.util.Optional;
import org.apache.calcite.rel.RelDistribution;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalHashJoin;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalJoinBase;
import org.apache.flink.table.planner.plan.nodes.physical.batch.BatchPhysicalSortMergeJoin;
import org.apache.flink.table.planner.plan.trait.FlinkRelDistributionTraitDef;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces hash joins and sort-merge joins of batch mode. */
final class BatchJoinReplacement implements JoinReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(BatchJoinReplacement.class);

    @Override
    public RelNode apply(RelNode rel) {
        return rel instanceof BatchPhysicalHashJoin || rel instanceof BatchPhysicalSortMergeJoin
                ? replacement((BatchPhysicalJoinBase) rel)
                : rel;
    }

    private static RelNode replacement(BatchPhysicalJoinBase join) {
        Optional<SqlReason> refusal = refusal(join);
        if (refusal.isPresent()) {
            Refusals.log(LOG, join, refusal.get());
            return JoinsOfFlink.withReason(join, refusal.get());
        }
        BatchPhysicalGpuJoin replacement =
                new BatchPhysicalGpuJoin(
                        join.getCluster(),
                        join.getTraitSet(),
                        Exchanges.withoutOfBatch(join.getLeft()),
                        Exchanges.withoutOfBatch(join.getRight()),
                        join.getCondition(),
                        join.getJoinType(),
                        JoinKeys.of(join.joinSpec()));
        Optional<RexNode> condition = join.joinSpec().getNonEquiCondition();
        return condition.isPresent()
                ? ResidualCondition.behindInnerOfBatch(replacement, condition.get())
                : replacement;
    }

    private static Optional<SqlReason> refusal(BatchPhysicalJoinBase join) {
        Optional<SqlReason> ofKeys = Refusals.ofKeys(join).or(() -> Refusals.ofMixedNulls(join));
        if (ofKeys.isPresent()) {
            return ofKeys;
        }
        Optional<RexNode> condition = join.joinSpec().getNonEquiCondition();
        if (condition.isPresent() && join.joinSpec().getJoinType() != FlinkJoinType.INNER) {
            return Optional.of(SqlReason.CONDITION_IN_BATCH_MODE);
        }
        if (condition.isPresent() && !RexUtil.isDeterministic(condition.get())) {
            return Optional.of(SqlReason.NON_DETERMINISTIC_CONDITION);
        }
        return hasOrder(join) ? Optional.of(SqlReason.ORDER_OF_RESULTS) : Optional.empty();
    }

    private static boolean hasOrder(BatchPhysicalJoinBase join) {
        RelDistribution distribution =
                join.getTraitSet().getTrait(FlinkRelDistributionTraitDef.INSTANCE());
        return distribution.getType() != RelDistribution.Type.ANY
                || !join.getTraitSet().getCollation().getFieldCollations().isEmpty();
    }
}
