// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.runtime.symmetric.RowPairCondition;
import org.apache.flink.api.common.functions.DefaultOpenContext;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.runtime.generated.GeneratedJoinCondition;
import org.apache.flink.table.runtime.generated.JoinCondition;

/** A condition of SQL, for which the planner generates code. */
final class GeneratedRowPairCondition implements RowPairCondition {

    private final JoinCondition condition;

    private GeneratedRowPairCondition(JoinCondition condition) {
        this.condition = condition;
    }

    static RowPairCondition.Factory of(GeneratedJoinCondition generated) {
        return context -> open(generated, context);
    }

    private static RowPairCondition open(GeneratedJoinCondition generated, RuntimeContext context)
            throws Exception {
        JoinCondition condition = generated.newInstance(context.getUserCodeClassLoader());
        condition.setRuntimeContext(context);
        condition.open(DefaultOpenContext.INSTANCE);
        return new GeneratedRowPairCondition(condition);
    }

    @Override
    public boolean matches(RowData left, RowData right) {
        return condition.apply(left, right);
    }

    @Override
    public void close() throws Exception {
        condition.close();
    }
}
