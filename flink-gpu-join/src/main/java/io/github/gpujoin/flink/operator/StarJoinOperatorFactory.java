package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.flink.config.GpuJoinOptions;
import io.github.gpujoin.flink.config.MetricLevel;
import io.github.gpujoin.flink.emit.ResultEmitterFactory;
import io.github.gpujoin.flink.engine.EngineSelection;
import io.github.gpujoin.flink.eventtime.EventTimeJoin;
import io.github.gpujoin.flink.expiry.TimesToLive;
import io.github.gpujoin.flink.explain.JoinExplanation;
import io.github.gpujoin.flink.report.JoinReporting;
import io.github.gpujoin.flink.transport.RendezvousProvider;
import io.github.gpujoin.flink.transport.RingOptions;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.operators.coordination.OperatorCoordinator;
import org.apache.flink.streaming.api.operators.AbstractStreamOperatorFactory;
import org.apache.flink.streaming.api.operators.CoordinatedOperatorFactory;
import org.apache.flink.streaming.api.operators.StreamOperator;
import org.apache.flink.streaming.api.operators.StreamOperatorParameters;
import org.apache.flink.streaming.api.operators.TwoInputStreamOperatorFactory;

/** Makes {@link StarJoinOperator}s, and the coordinator by which their rings are found. */
public final class StarJoinOperatorFactory<OUT> extends AbstractStreamOperatorFactory<OUT>
        implements TwoInputStreamOperatorFactory<Chunk, Chunk, OUT>,
                CoordinatedOperatorFactory<OUT> {

    private static final long serialVersionUID = 1L;

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final ResultEmitterFactory<OUT> emitterFactory;
    private final int partitions;
    private final long groupIntervalMs;
    private final RingOptions rings;
    private JoinReporting reporting;

    /** Null where facts are joined as they come. */
    private EventTimeJoin eventTime;

    private TimesToLive ttls = TimesToLive.NONE;

    /**
     * @param partitions radix partitions, as many as there are key groups
     * @param groupIntervalMs least time between two emissions of groups for watermarks
     * @param rings how chunks of the edges by partition come
     */
    public StarJoinOperatorFactory(
            JoinSpec spec,
            EngineSelection engines,
            ResultEmitterFactory<OUT> emitterFactory,
            int partitions,
            long groupIntervalMs,
            RingOptions rings) {
        this.spec = spec;
        this.engines = engines;
        this.emitterFactory = emitterFactory;
        this.partitions = partitions;
        this.groupIntervalMs = groupIntervalMs;
        this.rings = rings;
        this.reporting =
                new JoinReporting(
                        JoinExplanation.of(rings.join(), rings.description(), spec),
                        MetricLevel.ESSENTIAL,
                        GpuJoinOptions.FAN_OUT_WARNING.defaultValue());
    }

    /** Has each subtask tell of itself like this. */
    public StarJoinOperatorFactory<OUT> reporting(JoinReporting told) {
        this.reporting = told;
        return this;
    }

    /** Has facts see versions of their event time; null for facts that are joined as they come. */
    public StarJoinOperatorFactory<OUT> byEventTime(EventTimeJoin versions) {
        this.eventTime = versions;
        return this;
    }

    /** Has rows live so long. */
    public StarJoinOperatorFactory<OUT> expiring(TimesToLive rows) {
        this.ttls = rows;
        return this;
    }

    /** How the join will be run. */
    public JoinExplanation plan() {
        return reporting.plan();
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
                        rings,
                        reporting,
                        eventTime,
                        ttls);
    }

    @Override
    public OperatorCoordinator.Provider getCoordinatorProvider(String name, OperatorID operator) {
        return new RendezvousProvider(operator, rings.join(), RendezvousProvider.End.READER);
    }

    @Override
    @SuppressWarnings("rawtypes")
    public Class<? extends StreamOperator> getStreamOperatorClass(ClassLoader classLoader) {
        return StarJoinOperator.class;
    }
}
