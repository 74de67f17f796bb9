// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.exec.JoinKeys;
import io.github.gpujoin.sql.exec.StarJoinSpec;
import io.github.gpujoin.sql.physical.StreamPhysicalGpuStarJoin;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalJoin;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;

/**
 * Replaces regular joins of an unbounded side with a bounded one, which becomes the dimension of a
 * star join. Rows of the unbounded side wait until the dimension is complete, and are not kept. A
 * join that does not qualify is left to {@link RegularJoinReplacement}.
 */
final class StarJoinReplacement implements JoinReplacement {

    private static final int LEFT = 0;
    private static final int RIGHT = 1;

    @Override
    public RelNode apply(RelNode rel) {
        return rel.getClass() == StreamPhysicalJoin.class
                ? replacement((StreamPhysicalJoin) rel)
                : rel;
    }

    private static RelNode replacement(StreamPhysicalJoin join) {
        boolean isLeftDimension = isDimension(join, LEFT);
        if (!isLeftDimension && !isDimension(join, RIGHT) || !isSupported(join)) {
            return join;
        }
        StreamPhysicalGpuStarJoin replacement =
                new StreamPhysicalGpuStarJoin(
                        join.getCluster(),
                        join.getTraitSet(),
                        Exchanges.without(join.getLeft()),
                        Exchanges.without(join.getRight()),
                        join.getCondition(),
                        join.getJoinType(),
                        join.getHints(),
                        new StarJoinSpec(
                                JoinKeys.of(join.joinSpec()),
                                join.joinSpec().getJoinType(),
                                isLeftDimension,
                                false));
        Optional<RexNode> condition = join.joinSpec().getNonEquiCondition();
        return condition.isPresent()
                ? ResidualCondition.behindInnerOfStreams(replacement, condition.get())
                : replacement;
    }

    /** Whether a side, but not the other one, is bounded, and the kind of join can load it. */
    private static boolean isDimension(StreamPhysicalJoin join, int side) {
        boolean isLeft = side == LEFT;
        boolean canBeLoaded =
                switch (join.joinSpec().getJoinType()) {
                    case INNER -> true;
                    case LEFT, SEMI, ANTI -> !isLeft;
                    case RIGHT -> isLeft;
                    case FULL -> false;
                };
        return canBeLoaded
                && BoundedRows.isBounded(join.getInput(side))
                && !BoundedRows.isBounded(join.getInput(1 - side))
                // Expired rows of the bounded side match nothing in Flink's join.
                && TimesToLive.ofSideMs(join, side) == 0;
    }

    private static boolean isSupported(StreamPhysicalJoin join) {
        return join.getInputs().stream().allMatch(InsertedRows::areAll)
                && Refusals.ofKeys(join).or(() -> Refusals.ofMixedNulls(join)).isEmpty()
                && isConditionSupported(join);
    }

    /**
     * The condition is evaluated behind the join, where rows without a match cannot be restored.
     */
    private static boolean isConditionSupported(StreamPhysicalJoin join) {
        Optional<RexNode> condition = join.joinSpec().getNonEquiCondition();
        return condition.isEmpty()
                || join.joinSpec().getJoinType() == FlinkJoinType.INNER
                        && RexUtil.isDeterministic(condition.get());
    }
}
