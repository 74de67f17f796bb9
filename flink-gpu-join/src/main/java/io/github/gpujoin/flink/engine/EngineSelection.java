// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.io.Serializable;

/**
 * The engines of a join. Serialized with the job. Each subtask searches for a GPU where it runs.
 *
 * @param preferred creates the engine to try first, or null without one
 * @param asked whether the user asked for the preferred engine by name
 * @param standby joins if the preferred engine is missing or has failed
 * @param division of the work over both engines, or null if one engine at a time joins
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record EngineSelection(
        Preferred preferred,
        boolean asked,
        JoinEngineFactory standby,
        DimensionPartitioning division,
        long slotMemoryBytes)
        implements Serializable {

    private static final long serialVersionUID = 1L;

    /** One engine at a time. */
    public EngineSelection(Preferred preferred, boolean asked, JoinEngineFactory standby) {
        this(preferred, asked, standby, null, Long.MAX_VALUE);
    }

    /** Chooses an engine by the resources of the subtask's process. */
    @FunctionalInterface
    public interface Preferred extends Serializable {
        JoinEngineFactory on(AssignedGpu gpu);
    }

    /** Creates the engine to try first, or returns null. */
    JoinEngineFactory preferredOn(AssignedGpu gpu) {
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
     * @param options with the device to use if Flink assigns none
     */
    public static EngineSelection gpu(
            GpuOptions options, boolean asked, JoinEngineFactory standby) {
        return new EngineSelection(
                gpu -> new GpuJoinEngineFactory(options.withDevice(gpu.numberOr(options.device()))),
                asked,
                standby);
    }

    /** Both engines at the same time; both must be forkable. */
    public EngineSelection dividing(DimensionPartitioning division) {
        return new EngineSelection(preferred, asked, standby, division, slotMemoryBytes);
    }

    /** The same engines with a limit of managed memory in each slot. */
    public EngineSelection within(long slotMemoryBytes) {
        return new EngineSelection(preferred, asked, standby, division, slotMemoryBytes);
    }
}
