// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.LimitedReservations;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.cpu.symmetric.IndexedSymmetricJoinFactory;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.kernels.binding.GpuFailure;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import io.github.gpujoin.kernels.gpu.GpuMatchIndexFactory;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import org.apache.flink.api.common.functions.RuntimeContext;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the symmetric join of a subtask with the managed memory that Flink planned for its
 * operator.
 *
 * @param factories in the order of preference; the next one is used if one is unavailable
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record SymmetricJoinOpener(List<SymmetricJoinFactory> factories, long slotMemoryBytes)
        implements Serializable {

    private static final Logger LOG = LoggerFactory.getLogger(SymmetricJoinOpener.class);

    /** Creates a join with empty tables. */
    @FunctionalInterface
    public interface Creator {

        /**
         * Creates a join, which the caller closes.
         *
         * @param hostMemory bounds all host memory that grows with the data
         * @param spillDirectory of files for rows that exceed the memory
         */
        SymmetricJoin create(
                SymmetricJoinFactory factory, MemoryReservations hostMemory, Path spillDirectory);
    }

    /** Copies the list. */
    public SymmetricJoinOpener {
        factories = List.copyOf(factories);
    }

    /** Opens joins of one implementation. */
    public SymmetricJoinOpener(SymmetricJoinFactory factory, long slotMemoryBytes) {
        this(List.of(factory), slotMemoryBytes);
    }

    /**
     * The memory of a subtask, and what creates joins in it. The caller closes the joins first. The
     * task's thread uses it, except for {@link #name}.
     */
    public static final class Opened implements AutoCloseable {

        private final List<SymmetricJoinFactory> factories;
        private final Creator creator;
        private final JoinMemory.Part part;
        private final HeapReservations memory;
        private final Path spillDirectory;
        private final AssignedGpu gpu;
        private volatile int current;
        private @Nullable GpuFailure refusal;

        private Opened(
                List<SymmetricJoinFactory> factories,
                Creator creator,
                JoinMemory.Part part,
                Path spillDirectory,
                AssignedGpu gpu) {
            this.factories = factories;
            this.creator = creator;
            this.part = part;
            this.memory = HeapReservations.of(part.memory());
            this.spillDirectory = spillDirectory;
            this.gpu = gpu;
        }

        /** Returns the name of the implementation of the next join. Any thread may call. */
        public String name() {
            return factories.get(current).joinName();
        }

        /** Returns why no GPU joins, if one was tried. */
        public @Nullable GpuFailure refusal() {
            return refusal;
        }

        /** Returns a join with empty tables, which the caller closes. */
        public SymmetricJoin create() {
            return create(Long.MAX_VALUE);
        }

        /**
         * Returns a join with empty tables, which the caller closes. Falls back if an
         * implementation is unavailable.
         *
         * @param limitBytes of its tables
         */
        public SymmetricJoin create(long limitBytes) {
            MemoryReservations limited = new LimitedReservations(memory, limitBytes);
            while (true) {
                try {
                    return creator.create(placed(factories.get(current)), limited, spillDirectory);
                } catch (EngineUnavailableException e) {
                    fallBack(name(), e);
                }
            }
        }

        /** Chooses the device of the subtask. */
        private SymmetricJoinFactory placed(SymmetricJoinFactory factory) {
            if (factory instanceof IndexedSymmetricJoinFactory indexed
                    && indexed.devices() instanceof GpuMatchIndexFactory devices) {
                int device = gpu.numberOr(devices.options().device());
                return new IndexedSymmetricJoinFactory(devices.onDevice(device));
            }
            return factory;
        }

        /**
         * Creates no more joins of an implementation until the job restarts.
         *
         * @param failed its name
         * @param cause its failure, thrown if there is no other one
         */
        public void fallBack(String failed, EngineUnavailableException cause) {
            if (!failed.equals(name())) {
                return; // another join of the subtask has failed before
            }
            if (current == factories.size() - 1) {
                throw cause;
            }
            current++;
            if (cause instanceof GpuUnavailableException unavailable) {
                refusal = unavailable.failure();
            }
            gpu.close();
            LOG.warn(
                    "Symmetric join falls back: from={}, to={}, reason={}",
                    failed,
                    name(),
                    refusal == null ? cause.scope() : refusal,
                    cause);
        }

        /** Returns the bytes that tables may still use. */
        public long availableBytes() {
            return memory.availableBytes();
        }

        @Override
        public void close() {
            gpu.close();
            memory.close();
            part.close();
        }
    }

    /** Opens the memory of a subtask. */
    public Opened open(
            Creator creator, Environment task, StreamConfig operator, RuntimeContext subtask) {
        Path spillDirectory = SpillDirectories.next(task);
        JoinMemory.Part part =
                JoinMemory.own(SlotMemory.of(task, operator).forTables(0, slotMemoryBytes));
        return new Opened(factories, creator, part, spillDirectory, new AssignedGpu(subtask));
    }

    /** Returns a failure that names the options by which the tables of a join would fit. */
    public static IllegalStateException refusal(String join, MemoryRefusedException cause) {
        return new IllegalStateException(
                "A partition of regular join '%s' exceeds its managed memory. Raise %s or the maximum parallelism, or set a time to live.\nLimit by %s; %s"
                        .formatted(
                                join,
                                TaskManagerOptions.MANAGED_MEMORY_SIZE.key(),
                                GpuJoinOptions.CPU_MEMORY.key(),
                                cause.getMessage()),
                cause);
    }
}
