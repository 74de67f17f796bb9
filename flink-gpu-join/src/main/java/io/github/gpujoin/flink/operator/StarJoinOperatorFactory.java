package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/** Makes {@link StarJoinOperator}s with the task's mailbox. */
public final class StarJoinOperatorFactory<OUT> extends AbstractStreamOperatorFactory<OUT>
        implements TwoInputStreamOperatorFactory<Chunk, Chunk, OUT> {

    private static final long serialVersionUID = 1L;

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final ResultEmitterFactory<OUT> emitterFactory;
    private final int partitions;
    private final long groupIntervalMs;

    /**
     * @param partitions radix partitions, as many as there are key groups
     * @param groupIntervalMs least time between two emissions of groups for watermarks
     */
    public StarJoinOperatorFactory(
            JoinSpec spec,
            EngineSelection engines,
            ResultEmitterFactory<OUT> emitterFactory,
            int partitions,
            long groupIntervalMs) {
        this.spec = spec;
        this.engines = engines;
        this.emitterFactory = emitterFactory;
        this.partitions = partitions;
        this.groupIntervalMs = groupIntervalMs;
    }

    @Override
    @SuppressWarnings("unchecked")
    public <T extends StreamOperator<OUT>> T createStreamOperator(
            StreamOperatorParameters<OUT> parameters) {
        return (T)
                new StarJoinOperator<>(
                        parameters,
                        spec,
                        engines,
                        emitterFactory,
                        partitions,
                        groupIntervalMs,
                        parameters.getMailboxExecutor());
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return StarJoinOperator.class;
    }
}
