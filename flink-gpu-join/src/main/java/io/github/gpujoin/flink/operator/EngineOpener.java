package io.github.gpujoin.flink.operator;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.checkpoint.BuildLog;
import io.github.gpujoin.flink.checkpoint.PartitionKeys;
import io.github.gpujoin.flink.checkpoint.ProbeLog;
import java.util.LinkedHashSet;
import java.util.Set;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.apache.flink.streaming.runtime.tasks.ProcessingTimeService;
import org.apache.flink.util.function.ThrowingRunnable;

/** Opens the engine of a subtask: over a divided build side or a whole one, on a GPU or not. */
final class EngineOpener {

    /**
     * An engine as a subtask uses it.
     *
     * @param inUse tells which engine joins, and why
     * @param spilled null where all build rows always have tables
     */
    record Opened(JoinEngine engine, EngineInUse inUse, SpilledFacts spilled) {}

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final OperatorID operator;
    private final StreamingRuntimeContext context;
    private final ProcessingTimeService time;
    private final JoinMetrics metrics;
    private final EngineReport report;

    /**
     * @param name of the operator
     * @param metrics of the operator
     */
    EngineOpener(
            JoinSpec spec,
            EngineSelection engines,
            String name,
            OperatorID operator,
            StreamingRuntimeContext context,
            ProcessingTimeService time,
            JoinMetrics metrics) {
        this.time = time;
        this.spec = spec;
        this.engines = engines;
        this.operator = operator;
        this.context = context;
        this.metrics = metrics;
        this.report = new EngineReport(name, metrics, engines.asked());
    }

    /**
     * @param buildLog from which tables are made anew
     * @param onResumed has the facts joined that {@code probeLog} then gives
     */
    Opened open(
            PartitionKeys keys,
            BuildLog buildLog,
            ProbeLog probeLog,
            ThrowingRunnable<Exception> onResumed) {
        JoinEngineFactory preferred = engines.preferredOn(context);
        Opened opened =
                engines.division() == null
                        ? openWhole(preferred, buildLog)
                        : openDivided(preferred, keys, buildLog, probeLog, onResumed);
        Set<String> names = new LinkedHashSet<>();
        if (preferred != null) {
            names.add(preferred.engineName());
        }
        names.add(engines.standby().engineName());
        if (engines.division() != null) {
            names.add(DividedEngine.STATE);
        }
        metrics.engine(opened.inUse(), names, keys.ownPartitions().getNumberOfKeyGroups());
        return opened;
    }

    private Opened openWhole(JoinEngineFactory preferred, BuildLog buildLog) {
        SharedTables.Scope scope =
                new SharedTables.Scope(context.getJobInfo().getJobId(), operator);
        FallbackJoinEngine opened =
                new FallbackJoinEngine(
                        spec,
                        preferred == null ? null : SharedTablesEngine.factory(preferred, scope),
                        SharedTablesEngine.factory(engines.standby(), scope),
                        into ->
                                buildLog.replay(
                                        chunk -> into.submitBuild(chunk.dimension(), chunk)),
                        report::fallback);
        return new Opened(opened, opened, null);
    }

    private Opened openDivided(
            JoinEngineFactory preferred,
            PartitionKeys keys,
            BuildLog buildLog,
            ProbeLog probeLog,
            ThrowingRunnable<Exception> onResumed) {
        DividedEngine opened =
                DividedEngine.open(
                        spec,
                        engines.division(),
                        keys.ownPartitions(),
                        preferred,
                        engines.standby(),
                        new BuildLogChunks(buildLog),
                        report::fallback);
        SpilledFacts spilled =
                new SpilledFacts(
                        opened.engine(),
                        probeLog,
                        time,
                        engines.division().spillDelayMs(),
                        onResumed);
        metrics.divided(opened, spilled);
        return new Opened(opened.engine(), opened, spilled);
    }
}
