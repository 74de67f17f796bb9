// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.region.LimitedReservations;
import io.github.gpujoin.core.region.MemoryRefusedException;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.core.symmetric.SymmetricJoin;
import io.github.gpujoin.core.symmetric.SymmetricJoinFactory;
import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.io.Serializable;
import java.nio.file.Path;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.graph.StreamConfig;

/**
 * Opens the symmetric join of a subtask with the managed memory that Flink planned for its
 * operator.
 *
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record SymmetricJoinOpener(SymmetricJoinFactory factory, long slotMemoryBytes)
        implements Serializable {

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

    /** The memory of a subtask, and what creates joins in it. The caller closes the joins first. */
    public record Opened(
            SymmetricJoinFactory factory,
            Creator creator,
            JoinMemory.Part part,
            HeapReservations memory,
            Path spillDirectory)
            implements AutoCloseable {

        public String name() {
            return factory.joinName();
        }

        /** Returns a join with empty tables, which the caller closes. */
        public SymmetricJoin create() {
            return create(Long.MAX_VALUE);
        }

        /**
         * Returns a join with empty tables, which the caller closes.
         *
         * @param limitBytes of its tables
         */
        public SymmetricJoin create(long limitBytes) {
            MemoryReservations limited = new LimitedReservations(memory, limitBytes);
            return creator.create(factory, limited, spillDirectory);
        }

        /** Returns the bytes that tables may still use. */
        public long availableBytes() {
            return memory.availableBytes();
        }

        @Override
        public void close() {
            memory.close();
            part.close();
        }
    }

    /** Opens the memory of a subtask. */
    public Opened open(Creator creator, Environment task, StreamConfig operator) {
        Path spillDirectory = SpillDirectories.next(task);
        JoinMemory.Part part =
                JoinMemory.own(SlotMemory.of(task, operator).forTables(0, slotMemoryBytes));
        HeapReservations memory = HeapReservations.of(part.memory());
        return new Opened(factory, creator, part, memory, spillDirectory);
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
