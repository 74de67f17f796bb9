// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.symmetric;

import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.runtime.PlannedJoin;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;

/** Creates {@link SymmetricJoinOperator}s. */
public final class SymmetricJoinOperatorFactory<OUT> extends AbstractStreamOperatorFactory<OUT>
        implements PlannedJoin {

    private static final long serialVersionUID = 1L;

    private final SymmetricJoinSettings settings;
    private final SymmetricResultEmitter.Factory<OUT> emitters;

    public SymmetricJoinOperatorFactory(
            SymmetricJoinSettings settings, SymmetricResultEmitter.Factory<OUT> emitters) {
        this.settings = settings;
        this.emitters = emitters;
    }

    /** Returns no plan: a regular join has one distribution, and its uid is checked only. */
    @Override
    public Optional<JoinExplanation> plan() {
        return Optional.empty();
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<OUT>> T createStreamOperator(
            StreamOperatorParameters<OUT> parameters) {
        return (T) new SymmetricJoinOperator<>(parameters, settings, emitters);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return SymmetricJoinOperator.class;
    }
}
