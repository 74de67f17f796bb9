// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.runtime.PlannedJoin;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/** Creates {@link BulkJoinOperator}s. */
public final class BulkJoinOperatorFactory<OUT> extends AbstractStreamOperatorFactory<OUT>
        implements TwoInputStreamOperatorFactory<Chunk, Chunk, OUT>, PlannedJoin {

    private static final long serialVersionUID = 1L;

    private final BulkJoinSettings settings;
    private final ResultEmitterFactory<OUT> emitters;

    public BulkJoinOperatorFactory(BulkJoinSettings settings, ResultEmitterFactory<OUT> emitters) {
        this.settings = settings;
        this.emitters = emitters;
    }

    @Override
    public Optional<JoinExplanation> plan() {
        return Optional.ofNullable(settings.plan());
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<OUT>> T createStreamOperator(
            StreamOperatorParameters<OUT> parameters) {
        return (T) new BulkJoinOperator<>(parameters, settings, emitters);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return BulkJoinOperator.class;
    }
}
