// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.GroupCodes;
import io.github.gpujoin.core.engine.JoinEngine;
import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.SlotHash;
import io.github.gpujoin.flink.filter.DimensionKeys;
import io.github.gpujoin.flink.state.BuildLog;
import io.github.gpujoin.flink.state.PartitionKeys;
import io.github.gpujoin.kernels.binding.GpuFailure;
import java.util.LinkedHashSet;
import java.util.Set;
import java.util.function.Consumer;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.streaming.api.operators.StreamingRuntimeContext;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the engine of a subtask: a {@link DividedEngine} if the build side is divided over memory
 * tiers, otherwise one engine at a time for the whole build side. The standby engine joins if the
 * preferred one is missing or fails.
 */
public final class EngineOpener {

    /**
     * An opened engine, which the caller closes, and then its memory.
     *
     * @param engine joins with codes for text groups
     * @param codes encode the build chunks of the engine and decode its groups
     * @param status reports which engine joins, and why
     * @param names names of the engines that may join, the preferred one first
     * @param memory managed memory of the engine's tables
     */
    public record Opened(
            JoinEngine engine,
            GroupCodes codes,
            EngineStatus status,
            Set<String> names,
            AutoCloseable memory) {}

    private static final Logger LOG = LoggerFactory.getLogger(EngineOpener.class);

    private final JoinSpec spec;
    private final EngineSelection engines;
    private final SharedTables.Scope scope;
    private final SlotMemory slotMemory;
    private final EngineReport report;

    /**
     * Creates an opener for a subtask.
     *
     * @param name name of the operator, for the log
     * @param slotMemory memory for tables on the host
     * @param fallbacks receives the reason of each fallback
     */
    public EngineOpener(
            JoinSpec spec,
            EngineSelection engines,
            String name,
            OperatorID operator,
            StreamingRuntimeContext context,
            SlotMemory slotMemory,
            Consumer<GpuFailure> fallbacks) {
        this.spec = spec;
        this.engines = engines;
        this.scope = new SharedTables.Scope(context.getJobInfo().getJobId(), operator);
        this.slotMemory = slotMemory;
        this.report = new EngineReport(name, fallbacks, engines.isRequested());
    }

    /**
     * Opens the engine without tables.
     *
     * @param buildLog log from which tables are rebuilt
     * @param filters collects the keys of restored rows
     * @param gpu GPU of the subtask, chosen only if an engine may use it
     */
    public Opened open(
            PartitionKeys keys, BuildLog buildLog, DimensionKeys filters, AssignedGpu gpu) {
        JoinMemory.Part memory =
                sharesTables() ? JoinMemory.shared(scope, slotMemory) : JoinMemory.own(slotMemory);
        try {
            return open(keys, buildLog, filters, gpu, memory);
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    /** Returns whether the subtasks of a TaskManager share their tables. */
    private boolean sharesTables() {
        return engines.division() == null && !spec.hasChangelog();
    }

    private Opened open(
            PartitionKeys keys,
            BuildLog buildLog,
            DimensionKeys filters,
            AssignedGpu gpu,
            JoinMemory.Part memory) {
        LOG.debug("{}={} repeats this process's tables", SlotHash.SEED_PROPERTY, SlotHash.seed());
        buildLog.reserveCopies(memory.memory());
        JoinEngineFactory preferred = preferred(gpu, memory.memory());
        JoinEngineFactory standby = engines.standby().within(memory.memory());
        Set<String> names = new LinkedHashSet<>();
        if (preferred != null) {
            names.add(preferred.engineName());
        }
        names.add(standby.engineName());
        GroupCodes codes = memory.memory().groupCodes(spec);
        BuildLogChunks log = new BuildLogChunks(buildLog, codes, filters);
        if (engines.division() == null) {
            FallbackJoinEngine whole =
                    openWhole(preferred, standby, codes.spec(), log, memory.memory());
            return new Opened(whole, codes, whole, names, memory);
        }
        names.add(DividedEngine.STATE);
        DividedEngine divided = openDivided(preferred, standby, codes.spec(), keys, log);
        return new Opened(divided.engine(), codes, divided, names, memory);
    }

    private @Nullable JoinEngineFactory preferred(AssignedGpu gpu, JoinMemory memory) {
        JoinEngineFactory preferred = engines.preferredOn(gpu);
        return preferred == null ? null : preferred.within(memory);
    }

    private FallbackJoinEngine openWhole(
            @Nullable JoinEngineFactory preferred,
            JoinEngineFactory standby,
            JoinSpec coded,
            BuildLogChunks log,
            JoinMemory memory) {
        return new FallbackJoinEngine(
                coded,
                preferred == null ? null : SharedTablesEngine.factory(preferred, scope, memory),
                SharedTablesEngine.factory(standby, scope, memory),
                log::reader,
                report::fallback);
    }

    private DividedEngine openDivided(
            @Nullable JoinEngineFactory preferred,
            JoinEngineFactory standby,
            JoinSpec coded,
            PartitionKeys keys,
            BuildLogChunks log) {
        return DividedEngine.open(
                coded,
                engines.division(),
                keys.ownPartitions(),
                preferred,
                standby,
                log,
                report::fallback);
    }
}
