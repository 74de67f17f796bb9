// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.runtime;

import io.github.gpujoin.core.engine.BuildShare;
import io.github.gpujoin.core.histogram.Histogram;
import io.github.gpujoin.flink.metrics.BuildCounts;
import io.github.gpujoin.flink.runtime.histogram.GlobalHistogram;
import io.github.gpujoin.flink.runtime.histogram.GlobalHistogram.Sum;
import io.github.gpujoin.flink.runtime.histogram.HistogramClient;
import io.github.gpujoin.flink.runtime.histogram.HistogramReport;
import io.github.gpujoin.hybrid.HybridJoinEngine;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.flink.api.common.JobID;
import org.apache.flink.configuration.TaskManagerOptions;
import org.apache.flink.runtime.jobgraph.OperatorID;
import org.apache.flink.runtime.metrics.scope.ScopeFormat;
import org.apache.flink.runtime.state.KeyGroupRange;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Divides the devices of a process among the subtasks of a join with a partitioned dimension. At
 * the end of LOAD a subtask reports its histogram to the coordinator and continues at once with an
 * equal share. When all subtasks have reported, the engine learns the sums of the process ({@link
 * HybridJoinEngine#expect}).
 *
 * <p>Used by the task's mailbox thread, except for {@link #share}.
 */
final class DeviceSharing implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(DeviceSharing.class);

    private record Join(JobID job, OperatorID operator) {}

    /** Number of subtasks of this process by join; guarded by itself. */
    private static final Map<Join, Integer> SUBTASKS = new HashMap<>();

    private final SubtaskContext subtask;
    private final HybridJoinEngine engine;
    private final BuildCounts counts;
    private final KeyGroupRange partitions;
    private final Join join;
    private final HistogramClient client;
    private volatile double share;
    private boolean isClosed;

    /**
     * @param counts of the subtask, complete when {@link #loaded} is called
     * @param partitions of the subtask
     */
    DeviceSharing(
            SubtaskContext subtask,
            HybridJoinEngine engine,
            BuildCounts counts,
            KeyGroupRange partitions) {
        this.subtask = subtask;
        this.engine = engine;
        this.counts = counts;
        this.partitions = partitions;
        OperatorID operator = subtask.operator().getOperatorID();
        this.join = new Join(subtask.runtime().getJobInfo().getJobId(), operator);
        this.client =
                new HistogramClient(
                        subtask.name(),
                        subtask.environment().getOperatorCoordinatorEventGateway(),
                        operator);
        synchronized (SUBTASKS) {
            SUBTASKS.merge(join, 1, Integer::sum);
        }
    }

    /** Returns the subtask's share of the build bytes of its TaskManager; 0 while unknown. */
    double share() {
        return share;
    }

    /** Reports the histogram, before the tables are built. Does not wait for an answer. */
    void loaded() {
        int dimension = subtask.settings().engines().division().dimension();
        Histogram rows = counts.copyOfPartitions();
        long bytes = counts.bytes(dimension);
        if (subtask.task().getNumberOfParallelSubtasks() == 1) {
            apply(new BuildShare(rows, bytes, rows.partitionedRows(), bytes));
            return;
        }
        int inProcess = subtasksInProcess();
        engine.shareDeviceEqually(inProcess);
        LOG.info(
                "Star join {}: 1/{} of the devices until the global histogram arrives: build rows={}, bytes={}",
                subtask.name(),
                inProcess,
                rows.partitionedRows(),
                bytes);
        long startNs = System.nanoTime();
        client.report(
                HistogramReport.of(
                        subtask.environment().getExecutionId(), process(), partitions, rows, bytes),
                global -> post(() -> answered(global, rows, bytes, startNs)));
    }

    /**
     * Returns at least the number of subtasks of the process: after a restore, others may open
     * later, in the other slots.
     */
    private int subtasksInProcess() {
        int slots =
                subtask.environment()
                        .getTaskManagerInfo()
                        .getConfiguration()
                        .get(TaskManagerOptions.NUM_TASK_SLOTS);
        int expected = Math.min(slots, subtask.task().getNumberOfParallelSubtasks());
        synchronized (SUBTASKS) {
            return Math.max(expected, SUBTASKS.get(join));
        }
    }

    private String process() {
        return subtask.environment()
                .getMetricGroup()
                .getAllVariables()
                .getOrDefault(ScopeFormat.SCOPE_TASKMANAGER_ID, "");
    }

    private void post(Runnable action) {
        try {
            subtask.mailbox().execute(action::run, "apply the global histogram");
        } catch (RejectedExecutionException e) {
            LOG.debug("The subtask ended before the global histogram arrived.");
        }
    }

    private void answered(GlobalHistogram global, Histogram rows, long bytes, long startNs) {
        if (isClosed) {
            return;
        }
        Sum process = global.process();
        apply(new BuildShare(rows, bytes, process.rows(), process.bytes()));
        LOG.info(
                "Star join {}: global histogram after {} ms: this subtask builds {} % of its TaskManager: subtasks={}, rows={}, bytes={}; job: subtasks={}, rows={}, bytes={}, {}",
                subtask.name(),
                TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - startNs),
                Math.round(100 * share),
                process.subtasks(),
                process.rows(),
                process.bytes(),
                global.job().subtasks(),
                global.job().rows(),
                global.job().bytes(),
                global.partitions());
    }

    private void apply(BuildShare build) {
        share = build.share();
        engine.expect(build);
    }

    @Override
    public void close() {
        client.close();
        if (!isClosed) {
            isClosed = true;
            synchronized (SUBTASKS) {
                SUBTASKS.computeIfPresent(join, (key, count) -> count == 1 ? null : count - 1);
            }
        }
    }
}
