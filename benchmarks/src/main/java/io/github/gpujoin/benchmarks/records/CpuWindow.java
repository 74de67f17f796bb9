// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.benchmarks.records;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Processor time of the process ({@link CpuClock}) between two numbers of results of a job, so that
 * neither its start nor its end counts. Thread-safe. Found by number in the process, since a job
 * cannot carry it.
 */
final class CpuWindow implements AutoCloseable {

    private static final Map<Integer, CpuWindow> OPEN = new ConcurrentHashMap<>();
    private static final AtomicInteger NEXT_ID = new AtomicInteger();

    private final int id = NEXT_ID.incrementAndGet();
    private final long fromRows;
    private final long toRows;
    private final CountDownLatch buildSent;
    private final AtomicLong rows = new AtomicLong();
    private final AtomicLong checksum = new AtomicLong();
    private volatile long fromNs;
    private volatile long toNs;
    private volatile long measuredRows;

    /**
     * @param results of the whole job
     * @param buildRows that are sent before the first fact
     */
    CpuWindow(long results, int buildRows) {
        this.fromRows = results / 3;
        this.toRows = results - results / 20;
        this.buildSent = new CountDownLatch(buildRows);
        OPEN.put(id, this);
    }

    static CpuWindow of(int id) {
        return OPEN.get(id);
    }

    int id() {
        return id;
    }

    void buildRowSent() {
        buildSent.countDown();
    }

    void awaitBuild() throws InterruptedException {
        buildSent.await();
    }

    /** Counts results. */
    void add(long results, long sum) {
        checksum.addAndGet(sum);
        long after = rows.addAndGet(results);
        long before = after - results;
        if (before < fromRows && after >= fromRows) {
            fromNs = CpuClock.nowNs();
            measuredRows = -after;
        }
        if (before < toRows && after >= toRows) {
            toNs = CpuClock.nowNs();
            measuredRows += after;
        }
    }

    long rows() {
        return rows.get();
    }

    long checksum() {
        return checksum.get();
    }

    double cpuNsPerRow() {
        return (double) (toNs - fromNs) / measuredRows;
    }

    @Override
    public void close() {
        OPEN.remove(id);
    }
}
