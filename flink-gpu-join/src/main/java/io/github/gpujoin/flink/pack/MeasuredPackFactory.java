// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.pack;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.runtime.distribution.DistributionProvider;
import io.github.gpujoin.flink.runtime.distribution.MeasuredDimension;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.SimpleOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Makes packers of facts that are partitioned until a measured dimension proves small. */
public final class MeasuredPackFactory<IN> extends SimpleOperatorFactory<Chunk>
        implements OneInputStreamOperatorFactory<IN, Chunk>, CoordinatedOperatorFactory<Chunk> {

    private static final long serialVersionUID = 1L;

    private final MeasuredDimension dimension;

    /**
     * @param packer that {@linkplain AbstractPackOperator#partitionUntilReplicated starts
     *     partitioned}
     */
    public MeasuredPackFactory(AbstractPackOperator<IN, ?> packer, MeasuredDimension dimension) {
        super(packer);
        this.dimension = dimension;
    }

    @Override
    public <T extends StreamOperator<Chunk>> T createStreamOperator(
            StreamOperatorParameters<Chunk> parameters) {
        T packer = super.createStreamOperator(parameters);
        ((AbstractPackOperator<?, ?>) packer).setMailbox(parameters.getMailboxExecutor());
        return packer;
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operator) {
        return new DistributionProvider(operator, dimension, DistributionProvider.End.PACKERS);
    }
}
