// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.engine;

import io.github.gpujoin.core.bulk.BulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinFactory;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.engine.EngineUnavailableException;
import io.github.gpujoin.core.region.Allocator;
import io.github.gpujoin.core.region.MemoryAccount;
import java.io.File;
import java.io.Serializable;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Opens the bulk join of a subtask: with the managed memory that Flink planned for its operator,
 * and with files in Flink's directories for temporary files.
 *
 * @param factories in the order of preference; a later one is used where the earlier ones are
 *     unavailable
 * @param slotMemoryBytes limit of the join's managed memory in each slot
 */
public record BulkJoinOpener(List<BulkJoinFactory> factories, long slotMemoryBytes)
        implements Serializable {

    private static final Logger LOG = LoggerFactory.getLogger(BulkJoinOpener.class);

    /** Native memory of all bulk joins of the process. */
    private static final MemoryAccount PROCESS = new MemoryAccount("bulk join");

    /** Spreads the joins of the process over the directories. */
    private static final AtomicInteger NEXT_DIRECTORY = new AtomicInteger();

    /**
     * An opened join, which the caller closes, and then its memory.
     *
     * @param name of the implementation
     */
    public record Opened(BulkJoin join, String name, AutoCloseable memory) {}

    /** Copies the list. */
    public BulkJoinOpener {
        factories = List.copyOf(factories);
    }

    /** Returns the native memory of all bulk joins of the process, in bytes. */
    public static long processBytes() {
        return PROCESS.usedBytes();
    }

    /**
     * Opens a join without input.
     *
     * @throws EngineUnavailableException if no implementation is available
     */
    public Opened open(BulkJoinSpec spec, Environment task, StreamConfig operator) {
        JoinMemory.Part memory =
                JoinMemory.own(SlotMemory.of(task, operator).forTables(0, slotMemoryBytes));
        try {
            return open(spec, memory, directory(task));
        } catch (Throwable e) {
            memory.close();
            throw e;
        }
    }

    private Opened open(BulkJoinSpec spec, JoinMemory.Part memory, Path directory) {
        Allocator allocator = PROCESS.within(memory.memory());
        EngineUnavailableException unavailable = null;
        for (BulkJoinFactory factory : factories) {
            try {
                BulkJoin join = factory.create(spec, allocator, directory);
                return new Opened(join, factory.joinName(), memory);
            } catch (EngineUnavailableException e) {
                LOG.info("A bulk join is unavailable: join={}", factory.joinName(), e);
                if (unavailable != null) {
                    e.addSuppressed(unavailable);
                }
                unavailable = e;
            }
        }
        throw unavailable;
    }

    /** Flink deletes the directory when the TaskManager ends. */
    private static Path directory(Environment task) {
        File[] directories = task.getIOManager().getSpillingDirectories();
        int next = Math.floorMod(NEXT_DIRECTORY.getAndIncrement(), directories.length);
        return directories[next].toPath();
    }
}
