// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkJoinSpec;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.bulk.JoinSide;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.List;
import java.util.Queue;
import org.jspecify.annotations.Nullable;

/**
 * The bulk join of one device, on the thread of its caller, which waits for the device: {@link
 * #next} may take longer than its timeout, by the time of one launch.
 */
final class DeviceBulkEngine implements BulkEngine {

    private final BulkDevice device;
    private final BulkStorage storage;
    private final Queue<BulkBatches> batches = new ArrayDeque<>();
    private final Queue<BulkResult> results = new ArrayDeque<>();
    private @Nullable BulkSteps steps;
    private @Nullable BulkResultWriter writer;
    private boolean isFinished;

    /**
     * @param device closed by {@link #close}, and by the caller if the constructor fails
     * @param directory of a file for rows that exceed the host memory; null to fail instead
     */
    DeviceBulkEngine(BulkJoinSpec spec, BulkDevice device, @Nullable Path directory) {
        this.device = device;
        this.storage = new BulkStorage(spec, device, directory);
    }

    BulkDevice device() {
        return device;
    }

    BulkStorage storage() {
        return storage;
    }

    @Override
    public BulkRunLayout layout(JoinSide side) {
        return storage.layout(side);
    }

    @Override
    public RunSink joined(JoinSide side) {
        return storage.joined(side);
    }

    @Override
    public RunSink unjoined(JoinSide side) {
        return storage.unjoined(side);
    }

    @Override
    public KeyArena.Slab allocateKeys(long lengthBytes) throws InterruptedException {
        return storage.allocateKeys(lengthBytes);
    }

    @Override
    public void endLoading() {
        device.awaitCopies();
    }

    @Override
    public BulkJoinPlan start(boolean isAscending) throws InterruptedException {
        BulkStorage.Started started = storage.start(isAscending);
        steps = started.steps();
        writer = started.writer();
        return started.plan();
    }

    @Override
    public @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
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

    @Override
    public int waitingResults() {
        return results.size();
    }

    @Override
    public boolean isExhausted() {
        return isFinished && results.isEmpty();
    }

    @Override
    public long memoryBytes() {
        return device.memoryBytes();
    }

    @Override
    public long fileBytes() {
        return storage.fileBytes();
    }

    @Override
    public long waitedNs(BulkWait wait) {
        return device.waitedNs(wait);
    }

    /** There are no threads. */
    @Override
    public void stop() {}

    @Override
    public void close() {
        results.clear();
        try (device) {
            storage.close();
        }
    }
}
