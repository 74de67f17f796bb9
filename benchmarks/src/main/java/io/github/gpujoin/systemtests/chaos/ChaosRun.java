// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.examples.data.Benchmark;
import io.github.gpujoin.examples.data.SsbTables;
import io.github.gpujoin.systemtests.chaos.ConnectionProxy.Mode;
import io.github.gpujoin.systemtests.chaos.Fault.Phase;
import io.github.gpujoin.systemtests.chaos.Fault.Point;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumMap;
import java.util.Map;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import org.apache.flink.core.execution.JobClient;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;

/** One job and the faults that befall it. Used once, by one thread. */
final class ChaosRun {

    private static final long JOB_TIMEOUT_S = 180;
    private static final long CANCEL_TIMEOUT_S = 30;
    private static final long POLL_MS = 2;
    private static final long SLOW_PAUSE_MS = 50;

    private final ChaosCluster cluster;
    private final Markers markers;
    private final Map<Fault.Action, Integer> applied = new EnumMap<>(Fault.Action.class);
    private CompletableFuture<?> result;
    private long deadlineNs;

    /**
     * @param markers that the job sets, in a folder of this run alone
     */
    ChaosRun(ChaosCluster cluster, Markers markers) {
        this.cluster = cluster;
        this.markers = markers;
    }

    /**
     * Runs the job to its end, and the faults of the plan as far as it lives to see them.
     *
     * @param data folder of the benchmark's tables
     * @param out folder of the results
     * @throws ExecutionException with what the job failed with
     * @throws TimeoutException where it does not end
     */
    void run(StreamExecutionEnvironment env, FaultPlan plan, Path data, Path out) throws Exception {
        long faultsMs = plan.faults().stream().mapToLong(Fault::durationMs).sum();
        deadlineNs =
                System.nanoTime()
                        + TimeUnit.SECONDS.toNanos(JOB_TIMEOUT_S)
                        + TimeUnit.MILLISECONDS.toNanos(faultsMs);
        new StarRowsJob(env, data, markers).define(plan.partitioned(), out);
        JobClient client = env.executeAsync("chaos");
        result = client.getJobExecutionResult();
        try {
            for (Fault fault : plan.faults()) {
                if (reached(fault)) {
                    apply(fault);
                }
            }
            result.get(deadlineNs - System.nanoTime(), TimeUnit.NANOSECONDS);
        } finally {
            if (!result.isDone()) {
                client.cancel().get(CANCEL_TIMEOUT_S, TimeUnit.SECONDS);
            }
        }
    }

    /** How many faults of each kind there were. */
    Map<Fault.Action, Integer> applied() {
        return applied;
    }

    /** Waits for the fault's moment; false where the job ended before it. */
    private boolean reached(Fault fault) throws InterruptedException {
        if (!await(() -> hasBegun(fault.phase()))) {
            return false;
        }
        TimeUnit.MILLISECONDS.sleep(fault.offsetMs());
        if (fault.point() == Point.ANY) {
            return !result.isDone();
        }
        String held = PacedGate.held(fault.point());
        markers.clear(held);
        return await(() -> markers.isSet(held));
    }

    private boolean hasBegun(Phase phase) {
        return switch (phase) {
            case LOAD ->
                    markers.isSet(PacedGate.readBy(SsbTables.CUSTOMER.name(), 0))
                            && taskManager(0).isPresent()
                            && taskManager(1).isPresent();
            case JOIN ->
                    taskManager(0).isPresent()
                            && taskManager(1).isPresent()
                            && Benchmark.SSB.tables().stream()
                                    .filter(table -> table != SsbTables.LINEORDER)
                                    .allMatch(
                                            table -> markers.isSet(PacedGate.ended(table.name())));
        };
    }

    /** The process that runs a subtask of the facts, and with it the join's. */
    private OptionalLong taskManager(int subtask) {
        return markers.get(PacedGate.readBy(SsbTables.LINEORDER.name(), subtask));
    }

    private boolean await(BooleanSupplier condition) throws InterruptedException {
        while (!condition.getAsBoolean()) {
            if (result.isDone() || System.nanoTime() - deadlineNs > 0) {
                return false;
            }
            TimeUnit.MILLISECONDS.sleep(POLL_MS);
        }
        return true;
    }

    private void apply(Fault fault) throws IOException, InterruptedException {
        long pid = taskManager(fault.subtask()).orElseThrow();
        applied.merge(fault.action(), 1, Integer::sum);
        switch (fault.action()) {
            case KILL -> cluster.kill(pid);
            case PAUSE, STOP -> {
                cluster.pause(pid);
                TimeUnit.MILLISECONDS.sleep(fault.durationMs());
                cluster.resume(pid);
            }
            case SLOW -> slow(pid, fault.durationMs());
            case CUT_CONNECTIONS -> connections(Mode.CUT, fault.durationMs());
            case STALL_CONNECTIONS -> connections(Mode.STALL, fault.durationMs());
            case SLOW_CONNECTIONS -> connections(Mode.DELAY, fault.durationMs());
            case KILL_JOBMANAGER -> cluster.killJobManager();
            case CUT_TASKMANAGERS -> {
                cluster.dataConnections(Mode.CUT);
                TimeUnit.MILLISECONDS.sleep(fault.durationMs());
                cluster.dataConnections(Mode.FORWARD);
            }
            case FILL_DESCRIPTORS -> {
                cluster.fillDescriptors(pid);
                TimeUnit.MILLISECONDS.sleep(fault.durationMs());
                cluster.freeDescriptors(pid);
            }
            case FILL_DISK -> {
                cluster.fillDisk();
                TimeUnit.MILLISECONDS.sleep(fault.durationMs());
                cluster.freeDisk();
            }
        }
    }

    private void slow(long pid, int durationMs) throws IOException, InterruptedException {
        for (long cycle = 0; cycle < durationMs / (2 * SLOW_PAUSE_MS); cycle++) {
            cluster.pause(pid);
            TimeUnit.MILLISECONDS.sleep(SLOW_PAUSE_MS);
            cluster.resume(pid);
            TimeUnit.MILLISECONDS.sleep(SLOW_PAUSE_MS);
        }
    }

    private void connections(Mode mode, int durationMs) throws InterruptedException {
        cluster.connections(mode);
        TimeUnit.MILLISECONDS.sleep(durationMs);
        cluster.connections(Mode.FORWARD);
    }
}
