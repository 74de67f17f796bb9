// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.jspecify.annotations.Nullable;

/**
 * Creates the coordinators of the operator that logs dimensions, and of the packers of facts.
 *
 * @param dimension the measured dimension, or null if the join has none
 */
public record DistributionProvider(
        OperatorID operator, @Nullable MeasuredDimension dimension, End end)
        implements OperatorCoordinator.Provider {

    /** Role of an operator. */
    public enum End {
        /** Logs the dimension, and measures it. */
        LOG,
        /** Packs facts. */
        PACKERS
    }

    @Override
    public OperatorID getOperatorId() {
        return operator;
    }

    @Override
    public OperatorCoordinator create(OperatorCoordinator.Context context) {
        if (dimension == null) {
            return new DistributionCoordinator.Idle(context);
        }
        return switch (end) {
            case LOG -> new DistributionCoordinator.OfLog(context, dimension);
            case PACKERS -> new DistributionCoordinator.OfPackers(context, dimension);
        };
    }
}
