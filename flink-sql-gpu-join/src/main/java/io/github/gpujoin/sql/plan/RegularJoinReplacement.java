// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.core.symmetric.RowIdentity;
import io.github.gpujoin.flink.plan.RegularJoinPipeline;
import io.github.gpujoin.sql.exec.RegularJoinSpec;
import io.github.gpujoin.sql.explain.SqlReason;
import io.github.gpujoin.sql.physical.StreamPhysicalFlinkJoin;
import io.github.gpujoin.sql.physical.StreamPhysicalGpuJoin;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.planner.plan.nodes.exec.spec.JoinSpec;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalRel;
import org.apache.flink.table.planner.plan.utils.ChangelogPlanUtils;
import org.apache.flink.table.types.logical.RowType;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import scala.collection.JavaConverters;

/** Replaces regular joins, whose sides both go on. */
final class RegularJoinReplacement implements JoinReplacement {

    private static final Logger LOG = LoggerFactory.getLogger(RegularJoinReplacement.class);

    @Override
    public RelNode apply(RelNode rel) {
        return rel.getClass() == StreamPhysicalJoin.class
                ? replacement((StreamPhysicalJoin) rel)
                : rel;
    }

    private static RelNode replacement(StreamPhysicalJoin join) {
        RegularJoinSpec spec = spec(join);
        Optional<SqlReason> refusal = refusal(join, spec);
        if (refusal.isPresent()) {
            Refusals.log(LOG, join, refusal.get());
            return new StreamPhysicalFlinkJoin(
                    join.getCluster(),
                    join.getTraitSet(),
                    join.getLeft(),
                    join.getRight(),
                    join.getCondition(),
                    join.getJoinType(),
                    join.getHints(),
                    refusal.get());
        }
        return new StreamPhysicalGpuJoin(
                join.getCluster(),
                join.getTraitSet(),
                Exchanges.without(join.getLeft()),
                Exchanges.without(join.getRight()),
                join.getCondition(),
                join.getJoinType(),
                join.getHints(),
                spec);
    }

    private static RegularJoinSpec spec(StreamPhysicalJoin join) {
        JoinSpec keys = join.joinSpec();
        return new RegularJoinSpec(
                keys, input(join, 0, keys.getLeftKeys()), input(join, 1, keys.getRightKeys()));
    }

    private static RegularJoinSpec.Input input(StreamPhysicalJoin join, int side, int[] keys) {
        StreamPhysicalRel rows = (StreamPhysicalRel) join.getInput(side);
        long timeToLiveMs = TimesToLive.ofSideMs(join, side);
        if (ChangelogPlanUtils.isInsertOnly(rows)) {
            return new RegularJoinSpec.Input(RowIdentity.APPEND_ONLY, List.of(), timeToLiveMs);
        }
        List<List<Integer>> unique =
                JavaConverters.seqAsJavaList(join.getUpsertKeys(rows, keys)).stream()
                        .map(key -> Arrays.stream(key).boxed().toList())
                        .toList();
        List<Integer> key = Arrays.stream(keys).boxed().toList();
        if (unique.stream().anyMatch(key::containsAll)) {
            return new RegularJoinSpec.Input(RowIdentity.JOIN_KEY, List.of(), timeToLiveMs);
        }
        return unique.stream()
                .min(Comparator.comparingInt(List::size))
                .map(
                        smallest ->
                                new RegularJoinSpec.Input(
                                        RowIdentity.UNIQUE_COLUMNS, smallest, timeToLiveMs))
                .orElse(new RegularJoinSpec.Input(RowIdentity.MULTISET, List.of(), timeToLiveMs));
    }

    private static Optional<SqlReason> refusal(StreamPhysicalJoin join, RegularJoinSpec spec) {
        Optional<SqlReason> ofKeys = Refusals.ofKeys(join);
        if (ofKeys.isPresent()) {
            return ofKeys;
        }
        if (!spec.join().getNonEquiCondition().map(RexUtil::isDeterministic).orElse(true)) {
            return Optional.of(SqlReason.NON_DETERMINISTIC_CONDITION);
        }
        return supportsKeys(join.getLeft(), spec.join().getLeftKeys(), spec.left())
                        && supportsKeys(join.getRight(), spec.join().getRightKeys(), spec.right())
                ? Optional.empty()
                : Optional.of(SqlReason.KEY_TYPE);
    }

    private static boolean supportsKeys(RelNode rows, int[] keys, RegularJoinSpec.Input input) {
        RowType type = Refusals.rowType(rows);
        return RegularJoinPipeline.supportsKey(type, Arrays.stream(keys).boxed().toList())
                && RegularJoinPipeline.supportsKey(type, input.identityColumns());
    }
}
