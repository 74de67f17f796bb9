// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * A thread for each device of a group that loads runs: it allocates memory of its device, starts
 * copies, and waits for kernels that move rows, while the other devices load. Each runs its loads
 * in their order. The first failure ends all of them. One thread calls this class.
 */
final class BulkLoaders implements AutoCloseable {

    private final List<BulkDevice> devices;
    private final List<ExecutorService> threads = new ArrayList<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /** The threads start with their first load. */
    BulkLoaders(List<BulkDevice> devices) {
        this.devices = devices;
        for (BulkDevice device : devices) {
            threads.add(Executors.newFixedThreadPool(1, load -> newThread(device, load)));
        }
    }

    private static Thread newThread(BulkDevice device, Runnable load) {
        Thread thread = new Thread(load, "gpu-bulk-load-" + device.part());
        thread.setDaemon(true);
        return thread;
    }

    /** A copy that a thread starts when it has run the loads before. */
    private record Queued(BulkDevice device, Future<DeviceCopy> started) implements DeviceCopy {

        @Override
        public boolean isOver() throws InterruptedException {
            return started.isDone() && BulkThreads.await(started).isOver();
        }

        @Override
        public void await() throws InterruptedException {
            long startNs = System.nanoTime();
            DeviceCopy copy = BulkThreads.await(started);
            device.waited(BulkWait.BUS, startNs);
            copy.await();
        }
    }

    /**
     * Queues a load.
     *
     * @param member index of the device
     * @param load starts copies, and returns the last one
     * @return the copy that the load starts
     * @throws RuntimeException what a load has thrown, if one has
     */
    DeviceCopy submit(int member, Callable<DeviceCopy> load) {
        throwFailure();
        Future<DeviceCopy> started = threads.get(member).submit(() -> run(load));
        return new Queued(devices.get(member), started);
    }

    private @Nullable DeviceCopy run(Callable<DeviceCopy> load) throws Exception {
        throwFailure();
        try {
            return load.call();
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
            throw e;
        }
    }

    /** Throws what a load has thrown, if one has. Any thread may call. */
    void throwFailure() {
        BulkThreads.rethrow(failure.get());
    }

    /**
     * Waits for all loads, ends the threads, and throws what a load has thrown.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; a further call
     *     continues
     */
    void finish() throws InterruptedException {
        threads.forEach(ExecutorService::shutdown);
        for (ExecutorService thread : threads) {
            while (!thread.awaitTermination(1, TimeUnit.SECONDS)) {
                throwFailure();
            }
        }
        throwFailure();
    }

    /** Drops loads that have not begun, and ends the threads. A launched kernel ends first. */
    @Override
    public void close() {
        threads.forEach(ExecutorService::shutdownNow);
        threads.forEach(UninterruptibleWait::untilTerminated);
    }
}
