// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.plan;

import io.github.gpujoin.sql.exec.JoinKeys;
import io.github.gpujoin.sql.exec.StarJoinSpec;
import io.github.gpujoin.sql.physical.StreamPhysicalGpuStarJoin;
import java.util.List;
import org.apache.calcite.rel.RelNode;
import org.apache.calcite.rel.core.JoinRelType;
import org.apache.calcite.rex.RexBuilder;
import org.apache.calcite.rex.RexNode;
import org.apache.calcite.rex.RexProgram;
import org.apache.calcite.rex.RexUtil;
import org.apache.flink.table.connector.source.ScanTableSource;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalCalc;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalLookupJoin;
import org.apache.flink.table.planner.plan.nodes.physical.stream.StreamPhysicalTableSourceScan;
import org.apache.flink.table.planner.plan.schema.TableSourceTable;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.apache.flink.types.RowKind;

/**
 * Replaces lookup joins by star joins, if the statement permits it: the lookup table is read once,
 * at the start. Its connector must also be a bounded source that only inserts rows. Other lookup
 * joins are left to {@link JoinsOfFlink}.
 */
final class LookupJoinReplacement implements JoinReplacement {

    @Override
    public RelNode apply(RelNode rel) {
        return rel.getClass() == StreamPhysicalLookupJoin.class
                ? replacement((StreamPhysicalLookupJoin) rel)
                : rel;
    }

    private static RelNode replacement(StreamPhysicalLookupJoin lookup) {
        TableSourceTable table = lookup.temporalTable().unwrap(TableSourceTable.class);
        if (table == null || !isReadOnce(table) || !isSupported(lookup)) {
            return lookup;
        }
        RelNode left = Exchanges.without(lookup.getInput());
        RelNode right = scan(lookup, table);
        RexBuilder builder = lookup.getCluster().getRexBuilder();
        StreamPhysicalGpuStarJoin join =
                new StreamPhysicalGpuStarJoin(
                        lookup.getCluster(),
                        lookup.getTraitSet(),
                        left,
                        right,
                        lookup.joinInfo().getEquiCondition(left, right, builder),
                        lookup.joinType(),
                        List.of(),
                        spec(lookup));
        if (Refusals.ofKeys(join).isPresent()) {
            return lookup;
        }
        RexNode condition =
                RexUtil.composeConjunction(builder, lookup.joinInfo().nonEquiConditions, true);
        return condition == null ? join : ResidualCondition.behindInnerOfStreams(join, condition);
    }

    /**
     * Whether a scan of the table ends and inserts each row once. One that reads changes has rows
     * that a lookup does not find.
     */
    private static boolean isReadOnce(TableSourceTable table) {
        return BoundedRows.isBounded(table)
                && table.tableSource() instanceof ScanTableSource scan
                && scan.getChangelogMode().containsOnly(RowKind.INSERT);
    }

    private static StarJoinSpec spec(StreamPhysicalLookupJoin lookup) {
        return new StarJoinSpec(
                new JoinKeys(lookup.joinInfo().leftKeys, lookup.joinInfo().rightKeys, false),
                lookup.joinType() == JoinRelType.LEFT ? FlinkJoinType.LEFT : FlinkJoinType.INNER,
                false,
                true);
    }

    /** Returns a scan of the lookup table with the projection and filter of the lookup. */
    private static RelNode scan(StreamPhysicalLookupJoin lookup, TableSourceTable table) {
        RelNode scan =
                new StreamPhysicalTableSourceScan(
                        lookup.getCluster(), lookup.getTraitSet(), List.of(), table, false);
        if (lookup.calcOnTemporalTable().isEmpty()) {
            return scan;
        }
        RexProgram program = lookup.calcOnTemporalTable().get();
        return new StreamPhysicalCalc(
                lookup.getCluster(),
                lookup.getTraitSet(),
                scan,
                program,
                program.getOutputRowType());
    }

    private static boolean isSupported(StreamPhysicalLookupJoin lookup) {
        List<RexNode> conditions = lookup.joinInfo().nonEquiConditions;
        return InsertedRows.areAll(lookup.getInput())
                // A hint asks for a way to look up, such as retries.
                && lookup.lookupHint().isEmpty()
                && (lookup.joinType() == JoinRelType.INNER
                        || lookup.joinType() == JoinRelType.LEFT && conditions.isEmpty())
                && conditions.stream().allMatch(RexUtil::isDeterministic);
    }
}
