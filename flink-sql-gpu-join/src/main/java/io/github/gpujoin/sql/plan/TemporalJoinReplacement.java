// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.exec.JoinKeys;
import io.github.gpujoin.sql.exec.TemporalJoinSpec;
import io.github.gpujoin.sql.explain.SqlReason;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkTemporalJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalGpuTemporalJoin;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.api.config.ExecutionConfigOptions;
import org.apache.flink.table.planner.plan.nodes.exec.spec.JoinSpec;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTemporalJoin;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;
import org.apache.flink.table.planner.utils.ShortcutUtils;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Replaces temporal joins: {@code JOIN ... FOR SYSTEM_TIME AS OF}. */
final class TemporalJoinReplacement implements JoinReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(TemporalJoinReplacement.class);

    @Override
    public RelNode apply(RelNode rel) {
        return rel.getClass() == StreamPhysicalTemporalJoin.class
                ? replacement((StreamPhysicalTemporalJoin) rel)
                : rel;
    }

    private static RelNode replacement(StreamPhysicalTemporalJoin join) {
        TemporalCondition condition =
                TemporalCondition.of(
                        join.joinSpec().getNonEquiCondition().orElseThrow(),
                        join.getLeft().getRowType().getFieldCount(),
                        join.getCluster().getRexBuilder());
        Optional<SqlReason> refusal = refusal(join, condition);
        if (refusal.isPresent()) {
            Refusals.log(LOG, join, refusal.get());
            return new StreamPhysicalFlinkTemporalJoin(
                    join.getCluster(),
                    join.getTraitSet(),
                    join.getLeft(),
                    join.getRight(),
                    join.getCondition(),
                    join.getJoinType(),
                    refusal.get());
        }
        StreamPhysicalGpuTemporalJoin replacement =
                new StreamPhysicalGpuTemporalJoin(
                        join.getCluster(),
                        join.getTraitSet(),
                        Exchanges.without(join.getLeft()),
                        Exchanges.without(join.getRight()),
                        join.getCondition(),
                        join.getJoinType(),
                        spec(join, condition));
        return condition.residual() == null
                ? replacement
                : ResidualCondition.behind(
                        replacement, condition.residual(), join.joinSpec().getRightKeys()[0]);
    }

    private static TemporalJoinSpec spec(
            StreamPhysicalTemporalJoin join, TemporalCondition condition) {
        return new TemporalJoinSpec(
                JoinKeys.of(join.joinSpec()),
                join.joinSpec().getJoinType(),
                condition.leftTime(),
                condition.rightTime().orElse(TemporalJoinSpec.PROCESSING_TIME),
                ShortcutUtils.unwrapTableConfig(join)
                        .get(ExecutionConfigOptions.IDLE_STATE_RETENTION));
    }

    private static Optional<SqlReason> refusal(
            StreamPhysicalTemporalJoin join, TemporalCondition condition) {
        if (condition.isFunction()) {
            return Optional.of(SqlReason.TEMPORAL_FUNCTION);
        }
        FlinkJoinType type = join.joinSpec().getJoinType();
        if (type != FlinkJoinType.INNER && type != FlinkJoinType.LEFT) {
            return Optional.of(SqlReason.JOIN_KIND);
        }
        if (!ChangelogPlanUtils.isInsertOnly((StreamPhysicalRel) join.getLeft())) {
            return Optional.of(SqlReason.LEFT_SIDE_CHANGES);
        }
        if (condition.residual() != null && !RexUtil.isDeterministic(condition.residual())) {
            return Optional.of(SqlReason.NON_DETERMINISTIC_CONDITION);
        }
        boolean isByProcessingTime = condition.rightTime().isEmpty();
        if (isByProcessingTime && !hasKey(join.joinSpec(), condition.primaryKey())) {
            return Optional.of(SqlReason.KEY_IS_NOT_PRIMARY_KEY);
        }
        return Refusals.ofKeys(join).or(() -> Refusals.ofMixedNulls(join));
    }

    private static boolean hasKey(JoinSpec join, Set<Integer> primaryKey) {
        Set<Integer> columns = new HashSet<>();
        for (int column : join.getRightKeys()) {
            columns.add(column);
        }
        return columns.equals(primaryKey);
    }
}
