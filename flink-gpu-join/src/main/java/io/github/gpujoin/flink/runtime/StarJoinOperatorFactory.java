// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.exchange.ring.RendezvousProvider;
import io.github.gpujoin.flink.filter.FilterCoordinator;
import io.github.gpujoin.flink.runtime.histogram.HistogramCoordinator;
import java.util.Optional;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/**
 * Creates {@link StarJoinOperator}s, and the coordinator that exchanges their rings' addresses,
 * filters and histograms.
 */
public final class StarJoinOperatorFactory<OUT> extends AbstractStreamOperatorFactory<OUT>
        implements TwoInputStreamOperatorFactory<Chunk, Chunk, OUT>,
                CoordinatedOperatorFactory<OUT>,
                PlannedJoin {

    private static final long serialVersionUID = 1L;

    private final JoinSettings settings;
    private final ResultEmitterFactory<OUT> emitterFactory;

    public StarJoinOperatorFactory(
            JoinSettings settings, ResultEmitterFactory<OUT> emitterFactory) {
        this.settings = settings;
        this.emitterFactory = emitterFactory;
    }

    @Override
    public Optional<JoinExplanation> plan() {
        return Optional.of(settings.reporting().plan());
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<OUT>> T createStreamOperator(
            StreamOperatorParameters<OUT> parameters) {
        return (T) new StarJoinOperator<>(parameters, settings, emitterFactory);
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operator) {
        return new HistogramCoordinator.Provider(
                new FilterCoordinator.Provider(
                        new RendezvousProvider(
                                operator, settings.rings().join(), RendezvousProvider.End.READER),
                        settings.filters()),
                name);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return StarJoinOperator.class;
    }
}
