// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Creates the operator that sends chunks to the subtasks of their partitions. */
public final class RingSendOperatorFactory extends AbstractStreamOperatorFactory<Chunk>
        implements OneInputStreamOperatorFactory<Chunk, Chunk>, CoordinatedOperatorFactory<Chunk> {

    private static final long serialVersionUID = 1L;

    private final RingOptions options;
    private final JoinSide side;

    /**
     * @param side whose chunks the operator sends
     */
    public RingSendOperatorFactory(RingOptions options, JoinSide side) {
        this.options = options;
        this.side = side;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Chunk>> T createStreamOperator(
            StreamOperatorParameters<Chunk> parameters) {
        Coordinator coordinator =
                Coordinator.remote(
                        parameters.getStreamConfig().getOperatorID(),
                        parameters
                                .getContainingTask()
                                .getEnvironment()
                                .getOperatorCoordinatorEventGateway());
        return (T) new RingSendOperator(parameters, options, side, coordinator);
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operator) {
        return new RendezvousProvider(operator, options.join(), RendezvousProvider.End.WRITER);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return RingSendOperator.class;
    }
}
