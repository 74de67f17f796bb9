// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.SimulatedTask.Phase;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.flink.util.IOUtils;

/**
 * One life of a job, from its first deployment to its end: a model of Flink's JobManager. The
 * {@link Scheduler} decides which task takes the next step.
 */
final class Life implements AutoCloseable {

    /** Longer than other timers of the join wait. */
    private static final int QUIET_MS = 150;

    /** After that long without data, nothing is left to be joined. */
    static final int PAUSE_MS = 30;

    /** Attempts that may fail by faults of the network, before there are none any more. */
    private static final int MAX_LOSSES = 3;

    private final JobPlan plan;
    private final Scenario scenario;
    private Oracle oracle;
    private final LifeSetting setting;
    private final Scheduler scheduler;
    private final SinkResults results;
    private final ArrayDeque<Fault> faults;
    private JobAttempt current;
    private final SimulatedCoordinators coordinators;
    private final SimulatedNetwork network;

    private int losses;
    private int attempts;

    private final Checkpoints checkpoints;
    private long lastTriggerStep;

    /** Whether sources without an end were told to end. */
    private boolean drained;

    /** Whether the job drains before its sources end; its next checkpoint is its last. */
    private boolean endsWithSavepoint;

    /** The last complete checkpoint of a job that drains. */
    private long savepoint;

    /** Set while the job stops with a savepoint: the parallelism to go on with. */
    private int stoppingFor;

    Life(JobPlan plan, Scenario scenario) {
        this.plan = plan;
        this.scenario = scenario;
        VirtualTime.reset();
        this.network = SimulatedNetwork.open(scenario.network(), scenario.seed());
        this.coordinators = new SimulatedCoordinators(plan, SimulatedEnvironment.JOB);
        this.checkpoints = new Checkpoints(coordinators);
        this.setting =
                new LifeSetting(
                        scenario,
                        coordinators,
                        scenario.shape().hasHostGpu() ? HostGpu.open(scenario.seed()) : null);
        this.scheduler = new Scheduler(scenario, checkpoints, network, this::mayRun);
        this.results = new SinkResults(scenario.sinkRowNs());
        this.faults = new ArrayDeque<>(scenario.faults());
    }

    /**
     * Runs the life to its end.
     *
     * @throws LifeFailure where the join did something wrong
     */
    void run() {
        VirtualTime.beside(this::stepInBackground, scheduler::stepWhileATaskWaits);
        deploy(uniform(scenario.parallelism()), null);
        while (!isOver()) {
            scheduler.beginStep();
            if (scheduler.isLost()) {
                restart(current.parallelism(), 0);
            }
            if (stoppingFor > 0 && !checkpoints.isPending()) {
                int parallelism = stoppingFor;
                stoppingFor = 0;
                restart(uniform(parallelism), 0);
            }
            while (!faults.isEmpty() && faults.peek().step() <= scheduler.step()) {
                happen(faults.remove());
            }
            if (scheduler.hasProgress()
                    && scheduler.step() - lastTriggerStep >= scenario.checkpointSteps()) {
                triggerCheckpoint();
            }
            if (!scheduler.stepSomeTask()) {
                waitForSomething();
            }
        }
        scheduler.closeLingering(Long.MAX_VALUE);
        oracle.check(results.committed());
        if (setting.hostGpu() != null) {
            setting.hostGpu().requireUnused();
        }
    }

    private boolean isOver() {
        return current.tasks().stream().allMatch(task -> task.phase() == Phase.ENDED);
    }

    private List<Integer> uniform(int parallelism) {
        return plan.vertices().stream().map(vertex -> parallelism).toList();
    }

    // ------------------------------------------------------------------ steps

    /** Delivers messages, and runs what threads of the rings do. */
    private void stepInBackground() {
        coordinators.deliver();
        network.step();
    }

    /** A source that stops with a savepoint emits nothing after its barrier. */
    private boolean mayRun(SimulatedTask task) {
        return stoppingFor == 0 || !task.vertex.isSource() || task.isTriggered();
    }

    /** No task can go on before time passes, or a checkpoint tells it to end. */
    private void waitForSomething() {
        long timerMs =
                current.tasks().stream()
                        .filter(task -> task.phase() != Phase.ENDED)
                        .mapToLong(SimulatedTask::nextTimerMs)
                        .min()
                        .orElse(Long.MAX_VALUE);
        if (timerMs != Long.MAX_VALUE
                && !scheduler.isQuietFor(2 * scenario.shape().rowTtlMs() + QUIET_MS)) {
            VirtualTime.advanceNs(
                    TimeUnit.MILLISECONDS.toNanos(Math.max(1, timerMs - VirtualTime.nowMs())));
        } else if (checkpoints.isPending()) {
            throw new LifeFailure("a checkpoint never completes: " + checkpoints);
        } else if (current.tasks().stream().anyMatch(SimulatedTask::isAtGate)) {
            current.tasks().forEach(SimulatedTask::openGates);
        } else if (scheduler.hasProgress()) {
            triggerCheckpoint();
        } else if (!drainUnbounded()) {
            throw new LifeFailure("the job stalled: " + oracle.missing(results.committed()));
        }
    }

    /** Ends sources that do not end by themselves, once all is joined that can be. */
    private boolean drainUnbounded() {
        if (drained) {
            return false;
        }
        drained = true;
        oracle.checkBeforeEnd(results.committed());
        boolean any = false;
        for (SimulatedTask task : current.tasks()) {
            if (task.vertex.isSource() && task.phase() == Phase.RUNNING) {
                any = true;
                scheduler.act(task, () -> task.stop(true));
            }
        }
        scheduler.setProgress(any);
        return any;
    }

    /** Stops with a savepoint and drains: results are those of what the sources have emitted. */
    private void drain() {
        if (drained) {
            return;
        }
        abortCheckpoint();
        drained = true;
        endsWithSavepoint = true;
        Map<String, Map<Integer, Integer>> positions = new HashMap<>();
        for (SimulatedTask task : current.tasks()) {
            // Others may go on while one of them waits for a ring.
            if (task.vertex.isSource() && task.isEmitting()) {
                positions
                        .computeIfAbsent(setting.sourceOf(task.vertex), s -> new HashMap<>())
                        .putAll(task.positions());
            }
            if (task.vertex.isSource() && task.phase() == Phase.RUNNING) {
                scheduler.act(task, () -> task.stop(true));
            }
        }
        oracle = new Oracle(scenario.cutAt(positions));
        scheduler.setProgress(true);
    }

    // ------------------------------------------------------------------ faults

    private void happen(Fault fault) {
        switch (fault.kind()) {
            case RESTART -> restart(current.parallelism(), fault.lingerSteps());
            case RESCALE_ALL -> restart(uniform(fault.parallelism()), fault.lingerSteps());
            case RESCALE_ONE -> {
                List<Integer> parallelism = new ArrayList<>(current.parallelism());
                parallelism.set(fault.vertex() % parallelism.size(), fault.parallelism());
                restart(parallelism, fault.lingerSteps());
            }
            case STOP -> {
                if (!checkpoints.isPending() && !endsWithSavepoint && trigger(false)) {
                    stoppingFor = fault.parallelism();
                }
            }
            case DRAIN -> drain();
            case ABORT_CHECKPOINT -> abortCheckpoint();
        }
    }

    private void restart(List<Integer> parallelism, int lingerSteps) {
        abortCheckpoint();
        if (scheduler.isLost() && ++losses == MAX_LOSSES) {
            network.heal();
        }
        scheduler.end(lingerSteps);
        deploy(parallelism, checkpoints.completed());
    }

    private void deploy(List<Integer> parallelism, Checkpoint from) {
        coordinators.restart(parallelism, attempts, from);
        try {
            current =
                    new JobAttempt(
                            plan,
                            parallelism,
                            attempts++,
                            from,
                            setting,
                            results.newAttempt(),
                            this::acknowledge);
        } catch (Exception e) {
            throw new LifeFailure("The job does not start: " + e, e);
        }
        scheduler.start(current);
        if (!endsWithSavepoint || from == null || from.id != savepoint) {
            drained = false;
            endsWithSavepoint = false;
            oracle = new Oracle(scenario);
        }
        lastTriggerStep = scheduler.step();
    }

    // ------------------------------------------------------------------ checkpoints

    private void triggerCheckpoint() {
        trigger(scenario.shape().unaligned() && !endsWithSavepoint);
    }

    /** Savepoints are aligned, whatever checkpoints are. */
    private boolean trigger(boolean unaligned) {
        lastTriggerStep = scheduler.step();
        boolean begins = checkpoints.trigger(current, unaligned);
        scheduler.setProgress(scheduler.hasProgress() && !begins);
        return begins;
    }

    private void acknowledge(SimulatedTask task, long checkpoint, TaskState state) {
        if (!current.tasks().contains(task) || !checkpoints.acknowledge(task, checkpoint, state)) {
            return;
        }
        if (endsWithSavepoint) {
            savepoint = checkpoint;
            faults.clear();
        }
        checkpoints.announce(current);
    }

    private void abortCheckpoint() {
        stoppingFor = 0;
        boolean aborted = checkpoints.abort(current);
        scheduler.setProgress(scheduler.hasProgress() || aborted);
    }

    /** What the life came to. */
    @Override
    public String toString() {
        return "steps="
                + scheduler.step()
                + ", attempts="
                + attempts
                + ", checkpoints="
                + checkpoints.count()
                + ", ms="
                + VirtualTime.nowMs()
                + ", results="
                + results.committed();
    }

    @Override
    public void close() {
        scheduler.closeLingering(Long.MAX_VALUE);
        if (current != null) {
            IOUtils.closeQuietly(current);
        }
        IOUtils.closeAllQuietly(coordinators, network, setting.hostGpu());
    }
}
