// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.distribution;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

/**
 * Makes the coordinators of the operators that a measured dimension concerns.
 *
 * @param dimension null if none is measured
 */
public record DistributionProvider(OperatorID operator, MeasuredDimension dimension, End end)
        implements OperatorCoordinator.Provider {

    /** What an operator does. */
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
        return switch (end) {
            case LOG -> new DistributionCoordinator.OfLog(context, dimension);
            case PACKERS -> new DistributionCoordinator.OfPackers(context, dimension);
        };
    }
}
