// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.api.PairJoin;
import io.github.gpujoin.flink.emit.JoinedTableRows;
import io.github.gpujoin.flink.record.ColumnsKey;
import java.util.List;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext;
import org.apache.flink.table.planner.plan.nodes.exec.InputProperty;
import org.apache.flink.table.planner.plan.nodes.exec.batch.BatchExecNode;
import org.apache.flink.table.planner.plan.nodes.exec.common.CommonExecExchange;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.apache.flink.table.runtime.typeutils.InternalTypeInfo;
import org.apache.flink.table.types.logical.RowType;
import org.apache.flink.types.Row;

/**
 * Builds a join of batch mode. The right side is the build side.
 *
 * <p>For the planner the node is an exchange, which it is: the join sends chunks by key. Flink
 * fuses other nodes with two inputs into one operator of several inputs, unless there is an
 * exchange between them.
 */
public final class BatchExecGpuJoin extends CommonExecExchange implements BatchExecNode<RowData> {

    private static final String NAME = "gpu-batch-join";

    private final JoinKeys keys;
    private final FlinkJoinType type;

    public BatchExecGpuJoin(
            JoinKeys keys, FlinkJoinType type, RowType outputType, String description) {
        super(
                ExecNodeContext.newNodeId(),
                new ExecNodeContext(NAME + "_1"),
                null,
                List.of(InputProperty.DEFAULT, InputProperty.DEFAULT),
                outputType,
                description);
        this.keys = keys;
        this.type = type;
    }

    @Override
    protected Transformation<RowData> translateToPlanInternal(
            PlannerBase planner, ExecNodeConfig config) {
        JoinSide left = JoinSide.of(getInputEdges().get(0), "l", planner);
        JoinSide right = JoinSide.of(getInputEdges().get(1), "r", planner);
        JoinEnvironment env = JoinEnvironment.of(planner, RuntimeExecutionMode.BATCH);
        ColumnsKey<RowData> buildKey = right.key(keys.right());
        ColumnsKey<RowData> probeKey = left.key(keys.left());
        PairJoin.Keyed<RowData, RowData> join =
                PairJoin.build(right.rows(env))
                        .probe(left.rows(env))
                        .<Row>where(buildKey, buildKey.keyType())
                        .equalTo(probeKey, probeKey.keyType())
                        .uid(JoinUids.of(planner).unused(NAME, this));
        if (keys.isNullSafe()) {
            join.nullSafe();
        }
        return ofKind(join)
                .apply(
                        hasRightColumns()
                                ? new JoinedTableRows(right.numberedType(), left.numberedType())
                                : new ProbeRow(),
                        hasRightColumns()
                                ? left.joined(right, (RowType) getOutputType())
                                : InternalTypeInfo.of(left.numberedType()))
                .getTransformation();
    }

    private PairJoin.Keyed<RowData, RowData> ofKind(PairJoin.Keyed<RowData, RowData> join) {
        return switch (type) {
            case INNER -> join;
            case LEFT -> join.left();
            case RIGHT -> join.right();
            case FULL -> join.full();
            case SEMI -> join.semi();
            case ANTI -> join.anti();
        };
    }

    private boolean hasRightColumns() {
        return type != FlinkJoinType.SEMI && type != FlinkJoinType.ANTI;
    }
}
