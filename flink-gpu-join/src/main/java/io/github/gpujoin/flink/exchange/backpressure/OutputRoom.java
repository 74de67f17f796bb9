// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.backpressure;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.flink.metrics.Counter;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.PipelinedResultPartition;
import org.apache.flink.runtime.metrics.TimerGauge;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;

/**
 * Bounds what a task queues for its outputs, so that a barrier does not wait for all buffers of a
 * slow output. The bound is one buffer per receiver, one more, and as many as left the task in
 * {@value #TARGET_MS} ms. A fast output can thus fill all its buffers.
 *
 * <p>One buffer per receiver is allowed, since Flink may keep it partially filled until the buffer
 * timeout.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class OutputRoom {

    private static final int TARGET_MS = 200;
    private static final long WINDOW_NS = TimeUnit.MILLISECONDS.toNanos(500);
    private static final long PAUSE_NS = TimeUnit.MILLISECONDS.toNanos(1);

    private final Environment task;
    private final List<PipelinedResultPartition> partitions = new ArrayList<>();
    private final Counter buffersOut;
    private final TimerGauge backPressured;
    private long windowStartNs = System.nanoTime();
    private long buffersBefore;
    private long allowed = 1;

    public OutputRoom(Environment task) {
        TaskIOMetricGroup metrics = task.getMetricGroup().getIOMetricGroup();
        this.task = task;
        for (ResultPartitionWriter writer : task.getAllWriters()) {
            if (writer instanceof PipelinedResultPartition partition) {
                partitions.add(partition);
            }
        }
        buffersOut = metrics.getNumBuffersOutCounter();
        backPressured = metrics.getHardBackPressuredTimePerSecond();
    }

    /** Whether all outputs have a free buffer. Flink reads no input otherwise. */
    public boolean isAvailable() {
        for (ResultPartitionWriter writer : task.getAllWriters()) {
            if (!writer.isAvailable()) {
                return false;
            }
        }
        return true;
    }

    /** Whether the queues of all outputs are below their bound. */
    public boolean hasRoom() {
        return partitions.isEmpty() || hasRoom(System.nanoTime());
    }

    boolean hasRoom(long nowNs) {
        measure(nowNs);
        for (PipelinedResultPartition partition : partitions) {
            long limit = partition.getNumberOfSubpartitions() + allowed;
            if (partition.getNumberOfQueuedBuffers() > limit) {
                return false;
            }
        }
        return true;
    }

    private void measure(long nowNs) {
        long windowNs = nowNs - windowStartNs;
        if (windowNs >= WINDOW_NS) {
            long buffers = buffersOut.getCount();
            allowed = allowed(buffers - buffersBefore, windowNs);
            buffersBefore = buffers;
            windowStartNs = nowNs;
        }
    }

    /** Bound beside the partially filled buffers, from the rate at which buffers left the task. */
    private static long allowed(long buffers, long windowNs) {
        return 1 + buffers * TimeUnit.MILLISECONDS.toNanos(TARGET_MS) / windowNs;
    }

    /** Waits 1 ms for room, which counts as backpressure. */
    public void pause() {
        backPressured.markStart();
        LockSupport.parkNanos(PAUSE_NS);
        backPressured.markEnd();
    }
}
