package io.github.gpujoin.flink.exchange.ring;

import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;

/**
 * Makes the coordinators of the operators at the ends of a join's rings.
 *
 * @param join name of the join whose ends meet
 */
public record RendezvousProvider(OperatorID operator, String join, End end)
        implements OperatorCoordinator.Provider {

    /** What an operator does on the rings. */
    public enum End {
        /** The join. */
        READER,
        /** An operator that sends chunks to it. */
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
