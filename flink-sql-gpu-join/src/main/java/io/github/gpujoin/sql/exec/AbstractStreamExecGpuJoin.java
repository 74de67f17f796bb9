// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import java.util.Collections;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeBase;
import org.apache.flink.table.planner.plan.nodes.exec.ExecNodeContext;
import org.apache.flink.table.planner.plan.nodes.exec.InputProperty;
import org.apache.flink.table.planner.plan.nodes.exec.stream.StreamExecNode;
import org.apache.flink.table.types.logical.RowType;

/** A node that builds one of this project's joins. */
abstract class AbstractStreamExecGpuJoin extends ExecNodeBase<RowData>
        implements StreamExecNode<RowData> {

    private final String name;

    /**
     * @param name identifies the kind of node in messages and uids
     */
    AbstractStreamExecGpuJoin(String name, int inputs, RowType outputType, String description) {
        super(
                ExecNodeContext.newNodeId(),
                new ExecNodeContext(name + "_1"),
                null,
                Collections.nCopies(inputs, InputProperty.DEFAULT),
                outputType,
                description);
        this.name = name;
    }

    /**
     * Returns an input as a side of the join.
     *
     * @param input number of the input, from 0
     * @param prefix of the names of its columns in the join
     */
    final JoinSide side(int input, String prefix, PlannerBase planner) {
        return JoinSide.of(getInputEdges().get(input), prefix, planner);
    }

    /** Returns the prefix of the uids of this join's operators. */
    final String uid(PlannerBase planner) {
        return JoinUids.of(planner).unused(name, this);
    }
}
