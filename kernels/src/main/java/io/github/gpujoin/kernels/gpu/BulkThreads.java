// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.region.Memory;
import io.github.gpujoin.core.region.Region;
import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Threads of one bulk join that copy between chunks and pinned memory, because one thread copies
 * slower than the bus. They start with the first task. The thread of the join submits tasks, and
 * makes all calls to the device.
 */
final class BulkThreads implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(BulkThreads.class);

    private static final AtomicInteger NEXT_THREAD = new AtomicInteger();

    private final int count;

    /** Null without threads. */
    private final @Nullable ExecutorService executor;

    private final AtomicReference<Throwable> failure = new AtomicReference<>();

    /**
     * @param count of threads; 0 if the thread of the join copies
     */
    BulkThreads(int count) {
        this.count = count;
        this.executor =
                count == 0 ? null : Executors.newFixedThreadPool(count, BulkThreads::newThread);
    }

    private static Thread newThread(Runnable task) {
        Thread thread = new Thread(task, "gpu-bulk-join-" + NEXT_THREAD.getAndIncrement());
        thread.setDaemon(true);
        return thread;
    }

    int count() {
        return count;
    }

    /** Reads a chunk. Its thread is a user of the chunk until it has run, or never will. */
    private static final class Reading implements Runnable {

        private final AtomicReference<Chunk> chunk;
        private final Runnable task;

        Reading(Chunk chunk, Runnable task) {
            this.chunk = new AtomicReference<>(chunk);
            this.task = task;
            chunk.retain();
        }

        @Override
        public void run() {
            try {
                task.run();
            } finally {
                release();
            }
        }

        /** Releases the chunk unless it is released. */
        void release() {
            Chunk released = chunk.getAndSet(null);
            if (released != null) {
                released.release();
            }
        }
    }

    /**
     * Submits a task that reads a chunk, which is not transient.
     *
     * @param task if it throws, so does {@link #throwFailure} from then on
     * @param afterwards runs in any case, when a failure is known
     */
    void read(Chunk chunk, Runnable task, Runnable afterwards) {
        Reading reading =
                new Reading(
                        chunk,
                        () -> {
                            runOrFail(task);
                            afterwards.run();
                        });
        try {
            executor.execute(reading);
        } catch (Throwable e) {
            reading.release(); // no thread could be started
            throw e;
        }
    }

    private void runOrFail(Runnable task) {
        try {
            task.run();
        } catch (Throwable e) {
            failure.compareAndSet(null, e);
        }
    }

    /** Throws what a task of {@link #read} has thrown, if one has. */
    void throwFailure() {
        rethrow(failure.get());
    }

    /** Throws the failure of a thread, if there is one. */
    static void rethrow(@Nullable Throwable cause) {
        if (cause instanceof Error error) {
            throw error;
        }
        if (cause instanceof RuntimeException exception) {
            throw exception;
        }
        if (cause != null) {
            throw new IllegalStateException("A thread of the bulk join failed: " + cause, cause);
        }
    }

    /** Submits a task with a result; the caller runs it if there are no threads. */
    <T> Future<T> submit(Callable<T> task) {
        FutureTask<T> future = new FutureTask<>(task);
        if (executor == null) {
            future.run();
        } else {
            executor.execute(future);
        }
        return future;
    }

    /**
     * Returns the result of a task, or throws what it has thrown.
     *
     * @throws InterruptedException if the thread is interrupted while it waits; a further call
     *     continues
     */
    static <T> T await(Future<T> future) throws InterruptedException {
        try {
            return future.get();
        } catch (ExecutionException e) {
            rethrow(e.getCause());
            throw new IllegalStateException(e);
        }
    }

    /**
     * Writes to each page of new memory, so that the operating system provides it. All threads take
     * part, since one is slower than the bus. The caller touches what no thread has begun, because
     * it may hold a lock for which the threads wait.
     */
    void touch(long address, long lengthBytes) {
        int parts = (int) Math.min(count + 1, 1 + lengthBytes / (1 << 20));
        long partBytes = (lengthBytes / parts + Region.PAGE_BYTES - 1) & -Region.PAGE_BYTES;
        List<FutureTask<Object>> tasks = new ArrayList<>();
        for (long at = 0; at < lengthBytes; at += partBytes) {
            long start = address + at;
            long bytes = Math.min(partBytes, lengthBytes - at);
            tasks.add(new FutureTask<>(Executors.callable(() -> touchPages(start, bytes))));
        }
        offer(tasks.subList(Math.min(1, tasks.size()), tasks.size()));
        tasks.forEach(FutureTask::run);
        for (FutureTask<Object> task : tasks) {
            UninterruptibleWait.until(() -> task.isDone() || await(task) == null);
        }
    }

    /** Passes tasks to the threads, as far as there are any. */
    private void offer(List<FutureTask<Object>> tasks) {
        if (executor != null) {
            try {
                tasks.forEach(executor::execute);
            } catch (RejectedExecutionException | OutOfMemoryError e) {
                LOG.warn("A bulk join has fewer threads: {}", e.toString());
            }
        }
    }

    static void touchPages(long address, long lengthBytes) {
        for (long at = 0; at < lengthBytes; at += Region.PAGE_BYTES) {
            Memory.putByte(address + at, (byte) 0);
        }
    }

    /** Drops tasks that have not begun, and waits for the others, which are short. */
    @Override
    public void close() {
        if (executor == null) {
            return;
        }
        for (Runnable queued : executor.shutdownNow()) {
            if (queued instanceof Reading reading) {
                reading.release();
            }
        }
        UninterruptibleWait.untilTerminated(executor);
    }
}
