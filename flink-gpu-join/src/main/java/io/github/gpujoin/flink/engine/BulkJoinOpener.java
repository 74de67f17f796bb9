// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.flink.api.explain.ReasonCode;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuBulkJoinFactory;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.util.IOUtils;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the bulk join of a subtask: with the managed memory that Flink planned for its operator,
 * and with files in Flink's directories for temporary files.
 *
 * @param factories in the order of preference; a later one is used where the earlier ones are
 *     unavailable
 * @param isRequested whether the user named the first one
 * @param allowedFailures how many failures of tasks the restart strategy of the job allows
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record BulkJoinOpener(
        List<BulkJoinFactory> factories,
        boolean isRequested,
        int allowedFailures,
        long slotMemoryBytes)
        implements Serializable {

    private static final Logger LOG = LoggerFactory.getLogger(BulkJoinOpener.class);

    /** Native memory that all bulk joins of the process have reserved, in bytes. */
    private static final AtomicLong PROCESS_BYTES = new AtomicLong();

    /**
     * An opened join with what it uses. The caller closes it.
     *
     * @param name of the implementation
     * @param memory of the join
     * @param gpu the devices of the subtask, if it has some
     * @param refusal why no GPU joins, if one may have
     */
    public record Opened(
            BulkJoin join,
            String name,
            AutoCloseable memory,
            AutoCloseable gpu,
            @Nullable ReasonCode refusal)
            implements AutoCloseable {

        /**
         * Ends both inputs and logs how the join joins them.
         *
         * @throws InterruptedException if the thread is interrupted while it waits
         */
        public void finish() throws InterruptedException {
            join.finish();
            LOG.info("Bulk join starts. {}", join.plan());
        }

        @Override
        public void close() throws Exception {
            IOUtils.closeAll(join, memory, gpu);
        }
    }

    /**
     * The implementations that an attempt of a subtask tries.
     *
     * @param refusal why they have no GPU, if one may have joined
     */
    public record Usable(List<BulkJoinFactory> factories, @Nullable ReasonCode refusal) {

        /** Copies the list. */
        public Usable {
            factories = List.copyOf(factories);
        }
    }

    /** Copies the list. */
    public BulkJoinOpener {
        factories = List.copyOf(factories);
    }

    /** Returns the native memory of all bulk joins of the process, in bytes. */
    public static long processBytes() {
        return PROCESS_BYTES.get();
    }

    /**
     * Opens a join without input.
     *
     * @throws EngineUnavailableException if no implementation is available
     */
    public Opened open(
            BulkJoinSpec spec, Environment task, StreamConfig operator, RuntimeContext subtask) {
        JoinMemory.Part memory =
                JoinMemory.own(SlotMemory.of(task, operator).forTables(0, slotMemoryBytes));
        AssignedGpu assigned = new AssignedGpu(subtask);
        int parallelism = subtask.getTaskInfo().getNumberOfParallelSubtasks();
        Usable usable = usable(task.getTaskInfo().getAttemptNumber(), parallelism);
        log(usable, task.getTaskInfo().getAttemptNumber(), parallelism);
        try {
            return open(spec, memory, SpillDirectories.next(task), assigned, parallelism, usable);
        } catch (Throwable e) {
            memory.close();
            assigned.close();
            throw e;
        }
    }

    private Opened open(
            BulkJoinSpec spec,
            JoinMemory.Part memory,
            Path directory,
            AssignedGpu assigned,
            int parallelism,
            Usable usable) {
        MemoryReservations counted = new CountedReservations(memory.memory(), PROCESS_BYTES);
        EngineUnavailableException unavailable = null;
        ReasonCode refusal = usable.refusal();
        for (BulkJoinFactory factory : usable.factories()) {
            try {
                BulkJoin join =
                        placed(factory, assigned, parallelism).create(spec, counted, directory);
                return new Opened(join, factory.joinName(), memory, assigned, refusal);
            } catch (EngineUnavailableException e) {
                log(factory, e);
                if (e instanceof GpuUnavailableException gpu) {
                    refusal = GpuFailureReason.of(gpu.failure());
                    assigned.close();
                }
                if (unavailable != null) {
                    e.addSuppressed(unavailable);
                }
                unavailable = e;
            }
        }
        throw unavailable;
    }

    /** Returns whether a device may join. */
    public boolean hasDevice() {
        return factories.stream().anyMatch(BulkJoinFactory::usesDevice);
    }

    /**
     * Chooses the implementations that an attempt of a subtask tries. A device that fails during
     * the join fails the task, since nobody keeps its inputs:
     *
     * <ul>
     *   <li>Only the first attempt uses a device. It would fail the next attempt too, and a later
     *       one does not know why an earlier one failed, perhaps in another process.
     *   <li>Unless it is requested, no device joins that may fail the job. One device may have all
     *       subtasks, and Flink counts each of their failures.
     * </ul>
     *
     * @param attempt from 0 on
     * @param parallelism of the join
     */
    public Usable usable(int attempt, int parallelism) {
        List<BulkJoinFactory> others = factories.stream().filter(f -> !f.usesDevice()).toList();
        if (others.isEmpty() || !hasDevice()) {
            return new Usable(factories, null);
        }
        if (attempt > 0) {
            return new Usable(others, ReasonCode.EARLIER_ATTEMPT);
        }
        return isRequested || allowedFailures >= parallelism
                ? new Usable(factories, null)
                : new Usable(others, ReasonCode.FEW_RESTARTS);
    }

    private void log(Usable usable, int attempt, int parallelism) {
        if (usable.refusal() == ReasonCode.FEW_RESTARTS) {
            LOG.info(
                    "Bulk join uses no GPU (FEW_RESTARTS): allowedFailures={}, subtasks={}. Set restart-strategy.type to exponential-delay, or gpu-join.engine to gpu.",
                    allowedFailures,
                    parallelism);
        } else if (usable.refusal() == ReasonCode.EARLIER_ATTEMPT) {
            LOG.info("Bulk join uses no GPU (EARLIER_ATTEMPT): attempt={}.", attempt);
        }
    }

    /**
     * Chooses the devices of the subtask: all of them if it is the only one of its operator, else
     * one, since the other subtasks use the others and the input is already divided among them.
     */
    static BulkJoinFactory placed(BulkJoinFactory factory, AssignedGpu assigned, int parallelism) {
        if (!(factory instanceof GpuBulkJoinFactory gpu)) {
            return factory;
        }
        return gpu.onDevices(
                parallelism == 1
                        ? assigned.allOr(gpu.options().devices())
                        : List.of(assigned.numberOr(gpu.options().device())));
    }

    /** A join that did not name its implementation expects that a machine lacks it. */
    private void log(BulkJoinFactory factory, EngineUnavailableException e) {
        boolean isAbsence = e instanceof GpuUnavailableException gpu && gpu.failure().isAbsence();
        if (isAbsence && !isRequested) {
            LOG.info("Bulk join is unavailable: join={}. {}", factory.joinName(), e.getMessage());
        } else {
            LOG.warn(
                    "Bulk join is unavailable: join={}. {}", factory.joinName(), e.getMessage(), e);
        }
    }
}
