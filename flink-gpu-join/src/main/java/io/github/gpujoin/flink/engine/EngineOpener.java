package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.flink.checkpoint.BuildLog;
import io.github.gpujoin.flink.checkpoint.PartitionKeys;
import io.github.gpujoin.kernels.binding.GpuFailure;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;

/** Opens the engine of a subtask: over a divided build side or a whole one, on a GPU or not. */
public final class EngineOpener {

    /**
     * An engine as a subtask uses it.
     *
     * @param inUse tells which engine joins, and why
     * @param names of the engines that may join
     */
    public record Opened(JoinEngine engine, EngineInUse inUse, Set<String> names) {}

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final OperatorID operator;
    private final StreamingRuntimeContext context;
    private final EngineReport report;

    /**
     * @param name of the operator
     * @param fallbacks counts why another engine than the preferred one joins
     */
    public EngineOpener(
            JoinSpec spec,
            EngineSelection engines,
            String name,
            OperatorID operator,
            StreamingRuntimeContext context,
            Consumer<GpuFailure> fallbacks) {
        this.spec = spec;
        this.engines = engines;
        this.operator = operator;
        this.context = context;
        this.report = new EngineReport(name, fallbacks, engines.asked());
    }

    /**
     * @param buildLog from which tables are made anew
     * @param gpu of the subtask; asked for where an engine may use it
     */
    public Opened open(PartitionKeys keys, BuildLog buildLog, AssignedGpu gpu) {
        JoinEngineFactory preferred = engines.preferredOn(gpu);
        Set<String> names = new LinkedHashSet<>();
        if (preferred != null) {
            names.add(preferred.engineName());
        }
        names.add(engines.standby().engineName());
        if (engines.division() == null) {
            FallbackJoinEngine whole = openWhole(preferred, buildLog);
            return new Opened(whole, whole, names);
        }
        names.add(DividedEngine.STATE);
        DividedEngine divided = openDivided(preferred, keys, buildLog);
        return new Opened(divided.engine(), divided, names);
    }

    private FallbackJoinEngine openWhole(JoinEngineFactory preferred, BuildLog buildLog) {
        SharedTables.Scope scope =
                new SharedTables.Scope(context.getJobInfo().getJobId(), operator);
        return new FallbackJoinEngine(
                spec,
                preferred == null ? null : SharedTablesEngine.factory(preferred, scope),
                SharedTablesEngine.factory(engines.standby(), scope),
                () -> buildLog.replayReader()::next,
                report::fallback);
    }

    private DividedEngine openDivided(
            JoinEngineFactory preferred, PartitionKeys keys, BuildLog buildLog) {
        return DividedEngine.open(
                spec,
                engines.division(),
                keys.ownPartitions(),
                preferred,
                engines.standby(),
                new BuildLogChunks(buildLog),
                report::fallback);
    }
}
