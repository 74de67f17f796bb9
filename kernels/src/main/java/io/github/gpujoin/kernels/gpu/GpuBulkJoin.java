// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.AbstractBulkJoin;
import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.MemoryReservations;
import io.github.gpujoin.kernels.binding.GpuUnavailableException;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The bulk join in the memory of one GPU: radix partitions, each joined in the shared memory of a
 * multiprocessor ({@link ResidentJoin}).
 *
 * <p>Chunks are copied to the device while they are submitted. Inputs beyond the device memory are
 * divided by partition there, leave for host memory and at last for a file, and are joined
 * partition by partition. Key bytes of keys without an exact word remain in device memory, and
 * variable-width columns of results in host memory.
 *
 * <p>Threads of the join copy between chunks and pinned memory. All else is done on the thread of
 * its caller, which waits for the device: {@link #poll} may take longer than its timeout, by the
 * time of one launch. It stops the streaming joins that use the device meanwhile.
 */
public final class GpuBulkJoin extends AbstractBulkJoin {

    private final BulkDevice device;
    private final BulkMemory stagingMemory;
    private final StagedRuns staging;
    private final BulkStorage storage;
    private final Map<JoinSide, BulkTable> tables = new EnumMap<>(JoinSide.class);
    private final Queue<BulkBatches> batches = new ArrayDeque<>();
    private final Queue<BulkResult> results = new ArrayDeque<>();
    private @Nullable BulkSteps steps;
    private @Nullable BulkResultWriter writer;

    private boolean isFinished;
    private volatile long hostBytes;

    /**
     * Creates a join on the first device of the options.
     *
     * @param options whose devices, memory and stall timeout apply
     * @param hostMemory bounds the host memory of inputs that exceed the device memory
     * @param spillDirectory of a file for inputs that exceed both; null to fail instead
     * @throws GpuUnavailableException if the device cannot run this join
     */
    public GpuBulkJoin(
            BulkJoinSpec spec,
            GpuOptions options,
            MemoryReservations hostMemory,
            @Nullable Path spillDirectory) {
        this(Objects.requireNonNull(spec), BulkDevice.open(options, hostMemory), spillDirectory);
    }

    /**
     * @param device closed by {@link #close}, and here if the constructor fails
     */
    GpuBulkJoin(BulkJoinSpec spec, BulkDevice device, @Nullable Path spillDirectory) {
        super(spec);
        this.device = device;
        try {
            this.storage = new BulkStorage(spec, device, spillDirectory);
            this.stagingMemory = device.newMemory();
            this.staging =
                    new StagedRuns(device, stagingMemory, openRuns(spec), storage.maxRunBytes());
            for (JoinSide side : JoinSide.values()) {
                tables.put(
                        side,
                        new BulkTable(spec, side, device, staging, stagingMemory, storage));
            }
        } catch (Throwable e) {
            device.close();
            throw e;
        }
    }

    private static int openRuns(BulkJoinSpec spec) {
        return BulkTable.openRuns(spec, JoinSide.LEFT) + BulkTable.openRuns(spec, JoinSide.RIGHT);
    }

    /**
     * Returns the time in nanoseconds that the caller has waited for kernels of this join, without
     * copies of its inputs. Any thread may call.
     */
    public long kernelNs() {
        return waitedNs(BulkWait.KERNELS);
    }

    /** Returns the time in nanoseconds that the caller has waited. Any thread may call. */
    public long waitedNs(BulkWait wait) {
        return device.waitedNs(Objects.requireNonNull(wait, "wait"));
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
        BulkStorage.Started started =
                storage.start(tables.values().stream().allMatch(BulkTable::isAscending));
        steps = started.steps();
        writer = started.writer();
        stagingMemory.close();
        return started.plan();
    }

    @Override
    protected @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        while (results.isEmpty() && !isFinished) {
            advance();
        }
        return results.poll();
    }

    private void advance() throws InterruptedException {
        if (writer.writeMore(results::add)) {
            return;
        }
        BulkBatches current = batches.peek();
        if (current == null) {
            List<BulkBatches> next = steps.next();
            if (next == null) {
                writer.finish(results::add);
                isFinished = true;
            } else {
                batches.addAll(next);
            }
            return;
        }
        BulkBatch batch = current.next();
        if (batch == null) {
            batches.remove();
        } else {
            writer.write(batch, results::add);
        }
    }

    /** Returns the number of results that were not polled. */
    int waitingResults() {
        return results.size();
    }

    @Override
    protected boolean isExhausted() {
        return isFinished && results.isEmpty();
    }

    @Override
    protected long memoryBytes() {
        return device.memoryBytes() + hostBytes;
    }

    @Override
    protected long spilledBytes() {
        return storage.fileBytes();
    }

    @Override
    protected void release() {
        results.clear();
        try (device;
                storage) {
            tables.values().forEach(BulkTable::close);
            hostBytes = 0;
        }
    }
}
