// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.JoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuJoinEngineFactory;
import io.github.gpujoin.kernels.gpu.GpuOptions;
import java.io.Serializable;

/**
 * Which engine joins; travels with the job. A GPU is looked for where the subtask runs, not where
 * the job graph is made.
 *
 * @param preferred makes the engine to try first; null where there is only {@code standby}
 * @param asked whether the user asked for the preferred engine by name
 * @param standby joins where the preferred engine cannot, or can no longer
 * @param division of the work over both; null where one engine at a time joins all
 * @param slotMemoryBytes most managed memory that the join may take in each slot
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

    /** Engines that depend on what the subtask's process was given. */
    @FunctionalInterface
    public interface Preferred extends Serializable {
        JoinEngineFactory on(AssignedGpu gpu);
    }

    /** Makes the engine to try first; null where there is none. */
    JoinEngineFactory preferredOn(AssignedGpu gpu) {
        return preferred == null ? null : preferred.on(gpu);
    }

    /** Whether an engine may read build chunks again that it, or another one, has read. */
    public boolean mayReadAgain(AssignedGpu gpu) {
        return division != null || preferredOn(gpu) != null;
    }

    public static EngineSelection only(JoinEngineFactory engine) {
        return new EngineSelection(null, true, engine);
    }

    /**
     * @param options for the device that is used where Flink assigns none
     */
    public static EngineSelection gpu(
            GpuOptions options, boolean asked, JoinEngineFactory standby) {
        return new EngineSelection(
                gpu -> new GpuJoinEngineFactory(options.withDevice(gpu.numberOr(options.device()))),
                asked,
                standby);
    }

    /** These engines at the same time. Both must be forkable. */
    public EngineSelection dividing(DimensionPartitioning division) {
        return new EngineSelection(preferred, asked, standby, division, slotMemoryBytes);
    }

    /** The same engines, with at most so much managed memory in each slot. */
    public EngineSelection within(long slotMemoryBytes) {
        return new EngineSelection(preferred, asked, standby, division, slotMemoryBytes);
    }
}
