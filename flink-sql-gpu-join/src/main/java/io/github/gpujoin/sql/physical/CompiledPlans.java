// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.physical;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import org.apache.flink.table.api.ValidationException;

/** Compiled plans, which contain only nodes that Flink itself knows. */
final class CompiledPlans {

    private CompiledPlans() {}

    /**
     * @param joinName of the join in {@code EXPLAIN}
     * @throws ValidationException if the plan is compiled
     */
    static void refuse(boolean isCompiled, String joinName) {
        if (isCompiled) {
            throw new ValidationException(
                    "A compiled plan cannot contain the join %s. Set '%s' = 'false' before COMPILE PLAN."
                            .formatted(joinName, GpuJoinOptions.SQL_ENABLED.key()));
        }
    }
}
