// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.io.Serializable;
import org.jspecify.annotations.Nullable;

/**
 * The engines of a join. Serialized with the job. Each subtask searches for a GPU where it runs.
 *
 * @param preferred chooses the engine to try first; null to use {@code standby} alone
 * @param isRequested whether the user named the preferred engine
 * @param standby joins if the preferred engine is missing or has failed
 * @param division of the work over both engines, or null if one engine at a time joins
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record EngineSelection(
        @Nullable Preferred preferred,
        boolean isRequested,
        JoinEngineFactory standby,
        @Nullable DimensionPartitioning division,
        long slotMemoryBytes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** One engine at a time. */
    public EngineSelection(
            @Nullable Preferred preferred, boolean isRequested, JoinEngineFactory standby) {
        this(preferred, isRequested, standby, null, Long.MAX_VALUE);
    }

    /** Chooses an engine by the resources of the subtask's process. */
    @FunctionalInterface
    public interface Preferred extends Serializable {
        @Nullable JoinEngineFactory on(AssignedGpu gpu);
    }

    /** Returns the factory of the engine to try first, or null without one. */
    @Nullable JoinEngineFactory preferredOn(AssignedGpu gpu) {
        return preferred == null ? null : preferred.on(gpu);
    }

    /** Whether an engine may reread build chunks. */
    public boolean mayReadAgain(AssignedGpu gpu) {
        return division != null || preferredOn(gpu) != null;
    }

    public static EngineSelection only(JoinEngineFactory engine) {
        return new EngineSelection(null, true, engine);
    }

    /**
     * @param options with the devices to use if Flink assigns none
     */
    public static EngineSelection gpu(
            GpuOptions options, boolean isRequested, JoinEngineFactory standby) {
        return new EngineSelection(
                gpu -> new GpuJoinEngineFactory(options.withDevices(gpu.allOr(options.devices()))),
                isRequested,
                standby);
    }

    /** Both engines at the same time; both must be forkable. */
    public EngineSelection dividing(DimensionPartitioning division) {
        return new EngineSelection(preferred, isRequested, standby, division, slotMemoryBytes);
    }

    /** The same engines with a limit of managed memory in each slot. */
    public EngineSelection within(long slotMemoryBytes) {
        return new EngineSelection(preferred, isRequested, standby, division, slotMemoryBytes);
    }
}
