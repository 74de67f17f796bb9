// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

/**
 * Creates the coordinators of the operators at both ends of a join's rings.
 *
 * @param join name of the join, which identifies the {@link Rendezvous}
 */
public record RendezvousProvider(OperatorID operator, String join, End end)
        implements OperatorCoordinator.Provider {

    /** Role of an operator at the rings. */
    public enum End {
        /** The join, which reads chunks. */
        READER,
        /** An operator that sends chunks to the join. */
        WRITER
    }

    @Override
    public OperatorID getOperatorId() {
        return operator;
    }

    @Override
    public OperatorCoordinator create(OperatorCoordinator.Context context) {
        return switch (end) {
            case READER -> new RendezvousCoordinator.OfReader(context, join);
            case WRITER -> new RendezvousCoordinator.OfWriter(context, join);
        };
    }
}
