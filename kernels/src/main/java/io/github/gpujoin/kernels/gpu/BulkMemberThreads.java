// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.kernels.gpu;

import io.github.gpujoin.core.bulk.BulkJoinPlan;
import io.github.gpujoin.core.bulk.BulkResult;
import io.github.gpujoin.core.thread.UninterruptibleWait;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * A thread for each device of a bulk join. Their results wait in one bounded queue. The failure of
 * a device ends the join. One thread calls this class.
 */
final class BulkMemberThreads implements AutoCloseable {

    private static final int RESULTS_PER_DEVICE = 2;

    /** What a thread reports. */
    private sealed interface Event {
        record Started(BulkJoinPlan plan) implements Event {}

        record Result(BulkResult result) implements Event {}

        record Ended() implements Event {}

        record Failed(Throwable cause) implements Event {}
    }

    private final List<Thread> threads = new ArrayList<>();
    private final BlockingQueue<Event> starts;
    private final BlockingQueue<Event> events;
    private int running;

    /** Starts the joins of the devices. {@link #awaitStarts} is the next call. */
    BulkMemberThreads(List<DeviceBulkEngine> engines) {
        this.running = engines.size();
        this.starts = new ArrayBlockingQueue<>(engines.size());
        this.events = new ArrayBlockingQueue<>(RESULTS_PER_DEVICE * engines.size());
        for (int member = 0; member < engines.size(); member++) {
            DeviceBulkEngine engine = engines.get(member);
            Thread thread = new Thread(() -> run(engine), "gpu-bulk-join-" + member);
            thread.setDaemon(true);
            threads.add(thread);
        }
        try {
            threads.forEach(Thread::start);
        } catch (Throwable e) {
            close(); // there may be no more threads
            throw e;
        }
    }

    private void run(DeviceBulkEngine engine) {
        BlockingQueue<Event> reports = starts;
        try {
            reports.put(new Event.Started(engine.start(false)));
            reports = events;
            while (!engine.isExhausted()) {
                BulkResult result = engine.next(0);
                if (result != null) {
                    reports.put(new Event.Result(result));
                }
            }
            reports.put(new Event.Ended());
        } catch (InterruptedException e) {
            // by close(), which expects no report
            Thread.currentThread().interrupt();
        } catch (Throwable e) {
            report(reports, new Event.Failed(e));
        }
    }

    private static void report(BlockingQueue<Event> reports, Event event) {
        try {
            reports.put(event);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Waits until all devices have reserved their memory, and returns their plans in any order. */
    List<BulkJoinPlan> awaitStarts() throws InterruptedException {
        List<BulkJoinPlan> plans = new ArrayList<>();
        while (plans.size() < threads.size()) {
            Event event = starts.take();
            if (event instanceof Event.Started started) {
                plans.add(started.plan());
            } else {
                BulkThreads.rethrow(((Event.Failed) event).cause());
            }
        }
        return plans;
    }

    /** Returns the next result of any device; null if there is none in time, or none is left. */
    @Nullable BulkResult next(long timeoutNs) throws InterruptedException {
        long startNs = System.nanoTime();
        while (running > 0) {
            long restNs = Math.max(0, timeoutNs - (System.nanoTime() - startNs));
            Event event = events.poll(restNs, TimeUnit.NANOSECONDS);
            if (event == null) {
                return null;
            }
            if (event instanceof Event.Result result) {
                return result.result();
            }
            if (event instanceof Event.Failed failed) {
                BulkThreads.rethrow(failed.cause());
            }
            running--;
        }
        return null;
    }

    /** Returns whether all results of all devices were returned. */
    boolean isExhausted() {
        return running == 0;
    }

    /** Returns the number of results in the queue, and of ends of threads. */
    int waitingResults() {
        return events.size();
    }

    /** Ends the threads. A launched kernel ends first. */
    @Override
    public void close() {
        threads.forEach(Thread::interrupt);
        threads.forEach(UninterruptibleWait::join);
    }
}
