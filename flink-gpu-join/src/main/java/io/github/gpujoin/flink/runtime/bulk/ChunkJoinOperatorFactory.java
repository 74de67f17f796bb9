// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime.bulk;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.runtime.PlannedJoin;
import java.util.Optional;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/** Creates {@link ChunkJoinOperator}s. */
public final class ChunkJoinOperatorFactory extends AbstractStreamOperatorFactory<Long>
        implements TwoInputStreamOperatorFactory<Chunk, Chunk, Long>, PlannedJoin {

    private static final long serialVersionUID = 1L;

    private final ChunkJoinSettings settings;

    public ChunkJoinOperatorFactory(ChunkJoinSettings settings) {
        this.settings = settings;
    }

    @Override
    public Optional<JoinExplanation> plan() {
        return Optional.of(settings.plan());
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<Long>> T createStreamOperator(
            StreamOperatorParameters<Long> parameters) {
        return (T) new ChunkJoinOperator(parameters, settings);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return ChunkJoinOperator.class;
    }
}
