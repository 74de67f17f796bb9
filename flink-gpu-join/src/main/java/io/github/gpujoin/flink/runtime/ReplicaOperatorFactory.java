// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.runtime.distribution.DistributionProvider;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.OneInputStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Creates {@link ReplicaOperator}s, and the coordinator of the measured dimension. */
public final class ReplicaOperatorFactory extends AbstractStreamOperatorFactory<Chunk>
        implements OneInputStreamOperatorFactory<Chunk, Chunk>, CoordinatedOperatorFactory<Chunk> {

    private static final long serialVersionUID = 1L;

    private final ReplicaSettings settings;

    public ReplicaOperatorFactory(ReplicaSettings settings) {
        this.settings = settings;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Chunk>> T createStreamOperator(
            StreamOperatorParameters<Chunk> parameters) {
        return (T) new ReplicaOperator(parameters, settings);
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operator) {
        return new DistributionProvider(
                operator, settings.replicas().measured(), DistributionProvider.End.LOG);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return ReplicaOperator.class;
    }
}
