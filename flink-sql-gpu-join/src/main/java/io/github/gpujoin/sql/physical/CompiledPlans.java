// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import org.apache.calcite.rel.RelNode;
import org.apache.flink.table.api.ValidationException;

/** Compiled plans, which contain only nodes that Flink itself knows. */
final class CompiledPlans {

    private CompiledPlans() {}

    /**
     * @throws ValidationException if the plan is compiled
     */
    static void refuse(boolean isCompiled, RelNode join) {
        if (isCompiled) {
            throw new ValidationException(
                    "A compiled plan cannot contain the join %s. Set '%s' = 'false' before COMPILE PLAN."
                            .formatted(join.getRelTypeName(), GpuJoinOptions.SQL_ENABLED.key()));
        }
    }
}
