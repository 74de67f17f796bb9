// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.binding.jcuda;

import static io.github.gpujoin.kernels.binding.jcuda.CudaCalls.check;

import java.util.ArrayDeque;
import java.util.concurrent.locks.ReentrantLock;
import jcuda.driver.CUevent;
import jcuda.driver.CUevent_flags;
import jcuda.driver.CUresult;
import jcuda.driver.CUstream;
import jcuda.driver.JCudaDriver;

/**
 * Numbers the copies of a stream, and records an event behind each. Thread-safe; the calling thread
 * must have set the CUDA context.
 */
final class CopyQueue {

    /**
     * Minimum time between two queries of waiting threads. Without it, many threads that wait would
     * always hold the lock, and copies could not start.
     */
    private static final long QUERY_INTERVAL_NS = 4_000;

    /** A driver call that queues a copy on a stream, and returns the driver's result. */
    @FunctionalInterface
    interface Copy {
        int start(CUstream stream);
    }

    private final CUstream stream;
    private final ReentrantLock lock = new ReentrantLock();
    private final ArrayDeque<CUevent> pending = new ArrayDeque<>();
    private final ArrayDeque<CUevent> spare = new ArrayDeque<>();

    /** Written under the lock. A volatile read that covers a copy orders its caller behind it. */
    private volatile long completedCount;

    private volatile long lastQueryNs = System.nanoTime();

    /**
     * @param stream to be created before the first copy is started
     */
    CopyQueue(CUstream stream) {
        this.stream = stream;
    }

    /**
     * @param call describes the copy in messages
     */
    long start(String call, Copy copy) {
        lock.lock();
        try {
            reap();
            if (spare.isEmpty()) {
                spare.push(newEvent());
            }
            check(copy.start(stream), call);
            check(JCudaDriver.cuEventRecord(spare.peek(), stream), "cuEventRecord");
            pending.add(spare.pop());
            return completedCount + pending.size() - 1;
        } finally {
            lock.unlock();
        }
    }

    boolean hasCompleted(long copy) {
        if (copy >= completedCount
                && System.nanoTime() - lastQueryNs >= QUERY_INTERVAL_NS
                && lock.tryLock()) {
            try {
                reap();
            } finally {
                lock.unlock();
            }
        }
        return copy < completedCount;
    }

    private void reap() {
        lastQueryNs = System.nanoTime();
        while (!pending.isEmpty()) {
            int result = JCudaDriver.cuEventQuery(pending.peek());
            if (result == CUresult.CUDA_ERROR_NOT_READY) {
                return;
            }
            check(result, "cuEventQuery");
            spare.push(pending.remove());
            completedCount = completedCount + 1;
        }
    }

    private static CUevent newEvent() {
        CUevent event = new CUevent();
        check(
                JCudaDriver.cuEventCreate(event, CUevent_flags.CU_EVENT_DISABLE_TIMING),
                "cuEventCreate");
        return event;
    }

    void close() {
        lock.lock();
        try {
            spare.addAll(pending);
            pending.clear();
            spare.forEach(JCudaDriver::cuEventDestroy);
            spare.clear();
        } finally {
            lock.unlock();
        }
    }
}
