// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.api.Dimension;
import io.github.gpujoin.flink.api.StarJoin;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeConfig;
import org.apache.flink.table.runtime.operators.join.FlinkJoinType;
import org.apache.flink.table.types.logical.RowType;

/**
 * Builds a temporal join: a star join whose only dimension is versioned, or for processing time a
 * changelog.
 */
public final class StreamExecGpuTemporalJoin extends AbstractStreamExecGpuJoin {

    private final TemporalJoinSpec spec;

    public StreamExecGpuTemporalJoin(
            TemporalJoinSpec spec, RowType outputType, String description) {
        super("gpu-temporal-join", 2, outputType, description);
        this.spec = spec;
    }

    @Override
    protected Transformation<RowData> translateToPlanInternal(
            PlannerBase planner, ExecNodeConfig config) {
        JoinSide left = side(0, "l", planner);
        JoinSide right = side(1, "r", planner);
        JoinEnvironment env = JoinEnvironment.of(planner, RuntimeExecutionMode.STREAMING);
        boolean untimed = spec.isByProcessingTime();
        DataStream<RowData> facts =
                untimed ? left.rows(env) : left.rowsWithTimestamps(env, spec.leftTime());
        DataStream<RowData> versions =
                untimed ? right.rows(env) : right.rowsWithTimestamps(env, spec.rightTime());
        return env.sharingMemory(
                StarJoin.of(facts)
                        .select(left.columns())
                        .dimension(versions, dimension -> describe(dimension, left, right))
                        .uid(uid(planner))
                        .toRecords(left.joined(right, (RowType) getOutputType()))
                        .getTransformation());
    }

    private void describe(Dimension<RowData> dimension, JoinSide left, JoinSide right) {
        dimension.named("versions").changelog(new ChangeOfRow()).select(right.columns());
        spec.keys().describe(dimension, left, right);
        if (spec.type() == FlinkJoinType.LEFT) {
            dimension.left();
        }
        if (!spec.isByProcessingTime()) {
            dimension.versioned().joinLateRows();
            return;
        }
        dimension.partitioned();
        if (!spec.timeToLive().isZero()) {
            dimension.ttl(spec.timeToLive());
        }
    }
}
