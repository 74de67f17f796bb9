// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.AbstractBulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkKeyEncoder;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The bulk join in the memory of one GPU or of a group: radix partitions, each joined in the shared
 * memory of a multiprocessor ({@link ResidentJoin}).
 *
 * <p>Chunks are copied to the devices while they are submitted. Inputs beyond the memory of a
 * device are divided by partition there, leave for host memory and at last for a file, and are
 * joined partition by partition. Key bytes of keys without an exact word remain in device memory,
 * and variable-width columns of results in host memory.
 *
 * <p>Threads of the join copy between chunks and pinned memory. On one device, all else is done on
 * the thread of the caller, which waits for the device: {@link #poll} may take longer than its
 * timeout, by the time of one launch. Each device of a group has a thread. The join stops the
 * streaming joins that use a device meanwhile.
 */
public final class GpuBulkJoin extends AbstractBulkJoin {

    private final BulkEngine engine;
    private final String note;
    private final BulkThreads threads;
    private final BulkMemory stagingMemory;
    private final StagedRuns staging;

    /** Buffers of key bytes; null if words are exact. */
    private final @Nullable StagedRuns keyStaging;

    private final Map<JoinSide, BulkTable> tables = new EnumMap<>(JoinSide.class);
    private volatile long hostBytes;

    /**
     * Creates a join on the devices of the options: on the first one alone, if they do not access
     * each other's memory.
     *
     * @param options whose devices, memory and stall timeout apply
     * @param hostMemory bounds the host memory of inputs that exceed the device memory
     * @param spillDirectory of files for inputs that exceed both; null to fail instead
     * @throws GpuUnavailableException if a device cannot run this join
     */
    public GpuBulkJoin(
            BulkJoinSpec spec,
            GpuOptions options,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        this(Objects.requireNonNull(spec), BulkDevices.open(options, hostMemory), spillDirectory);
    }

    /**
     * @param devices closed by {@link #close}, and here if the constructor fails
     */
    GpuBulkJoin(BulkJoinSpec spec, BulkDevices devices, @Nullable Path spillDirectory) {
        this(spec, devices, spillDirectory, GroupBulkEngine.REPLICATED_ROWS);
    }

    /**
     * @param devices closed by {@link #close}, and here if the constructor fails
     * @param replicatedRows maximum rows of an input that each device of a group has
     */
    GpuBulkJoin(
            BulkJoinSpec spec,
            BulkDevices devices,
            @Nullable Path spillDirectory,
            long replicatedRows) {
        super(spec);
        this.threads = devices.threads();
        BulkDevice device = devices.first();
        try {
            BulkDevices.Opened opened = devices.engine(spec, spillDirectory, replicatedRows);
            this.engine = opened.engine();
            this.note = opened.note();
            this.stagingMemory = device.newMemory();
            this.staging =
                    new StagedRuns(device, stagingMemory, openRuns(spec), engine.maxRunBytes());
            this.keyStaging =
                    BulkKeyEncoder.isExact(spec)
                            ? null
                            : new StagedRuns(
                                    device,
                                    stagingMemory,
                                    JoinSide.values().length,
                                    KeyArena.BUFFER_BYTES);
            for (JoinSide side : JoinSide.values()) {
                tables.put(
                        side,
                        new BulkTable(
                                spec, side, device, staging, stagingMemory, keyStaging, engine));
            }
        } catch (Throwable e) {
            devices.close();
            throw e;
        }
    }

    private static int openRuns(BulkJoinSpec spec) {
        return BulkTable.openRuns(spec, JoinSide.LEFT) + BulkTable.openRuns(spec, JoinSide.RIGHT);
    }

    /**
     * Returns the time in nanoseconds that kernels of this join took, without copies of its inputs.
     * Of kernels that several devices ran at once, the longest time counts. Any thread may call.
     */
    public long kernelNs() {
        return waitedNs(BulkWait.KERNELS);
    }

    /**
     * Returns the time in nanoseconds that the threads which call devices have waited: the caller,
     * and of the threads of a group the longest time. Any thread may call.
     */
    public long waitedNs(BulkWait wait) {
        return engine.waitedNs(Objects.requireNonNull(wait, "wait"));
    }

    @Override
    protected void append(JoinSide side, Chunk chunk) throws InterruptedException {
        BulkTable table = tables.get(side);
        table.append(chunk);
        hostBytes = tables.values().stream().mapToLong(BulkTable::hostBytes).sum();
    }

    @Override
    protected BulkJoinPlan start() throws InterruptedException {
        for (BulkTable table : tables.values()) {
            table.finish();
        }
        staging.passAll();
        if (keyStaging != null) {
            keyStaging.passAll();
        }
        engine.endLoading();
        stagingMemory.close();
        BulkJoinPlan plan = engine.start(tables.values().stream().allMatch(BulkTable::isAscending));
        return new BulkJoinPlan(plan.algorithm(), note + plan.reason());
    }

    @Override
    protected @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        return engine.next(timeoutNs);
    }

    /** Returns the number of results that are ready. */
    int waitingResults() {
        return engine.waitingResults();
    }

    @Override
    protected boolean isExhausted() {
        return engine.isExhausted();
    }

    @Override
    protected long memoryBytes() {
        return engine.memoryBytes() + hostBytes;
    }

    @Override
    protected long spilledBytes() {
        return engine.fileBytes();
    }

    @Override
    protected void release() {
        try (engine) {
            engine.stop();
            threads.close();
            tables.values().forEach(BulkTable::close);
            hostBytes = 0;
        }
    }
}
