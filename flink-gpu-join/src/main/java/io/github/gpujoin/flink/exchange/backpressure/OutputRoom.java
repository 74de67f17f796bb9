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
 * How much a task may emit, so that a barrier does not wait for all that the buffers of a slow
 * output hold: two buffers a receiver and what left the task in the last {@value #TARGET_MS} ms. A
 * fast output thus has all its buffers. For the task's thread.
 *
 * <p>The bound is in buffers that Flink sends without a flush: one of each receiver may be unfilled
 * for as long as the buffer timeout says.
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

    /** Whether all outputs have a free buffer: only then does Flink read input. */
    public boolean isAvailable() {
        for (ResultPartitionWriter writer : task.getAllWriters()) {
            if (!writer.isAvailable()) {
                return false;
            }
        }
        return true;
    }

    /** Whether more may be emitted. */
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

    /** Buffers beside the unfilled ones, given how many left in a time. */
    private static long allowed(long buffers, long windowNs) {
        return 1 + buffers * TimeUnit.MILLISECONDS.toNanos(TARGET_MS) / windowNs;
    }

    /** Waits a little for room; counts as backpressure. */
    public void pause() {
        backPressured.markStart();
        LockSupport.parkNanos(PAUSE_NS);
        backPressured.markEnd();
    }
}
