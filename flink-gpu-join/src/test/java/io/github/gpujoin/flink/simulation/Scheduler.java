// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.rdma.session.SessionException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.IOUtils;

/**
 * Decides which task takes the next step. All tasks run on one thread: while a task waits, the
 * scheduler runs others above it on the stack.
 */
final class Scheduler {

    /** Limit of the steps of a life, without those for key groups. */
    private static final long MAX_STEPS = 6_000;

    /** In each attempt each sender announces for each key group that a dimension is complete. */
    private static final long STEPS_OF_KEY_GROUP = 32;

    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Limit of the waits within one step; a task that exceeds it waits forever. */
    private static final int MAX_WAITS = 100_000;

    /** The same for a task of an earlier attempt, whose peers may have ended. */
    private static final int MAX_LINGERING_WAITS = 200;

    /** The same for tasks above each other on the stack; more restarts the attempt. */
    private static final int MAX_STACKED_WAITS = 5_000;

    /** A step of a task, or what the JobManager requests of it. */
    interface Action {
        void run() throws Exception;
    }

    /** An earlier attempt whose tasks run on until they learn of its end. */
    private record Lingering(JobAttempt attempt, long untilStep) {}

    private final Scenario scenario;
    private final Checkpoints checkpoints;
    private final SimulatedNetwork network;
    private final Predicate<SimulatedTask> mayRun;
    private final Choices choices;
    private final WaitingFacts waitingFacts;
    private final long maxSteps;
    private final List<Lingering> lingering = new ArrayList<>();

    /** Tasks in the middle of a step, the lowest on the stack first. */
    private final List<SimulatedTask> busy = new ArrayList<>();

    private JobAttempt current;
    private boolean isLost;
    private int waits;
    private long step;
    private long lastDataMs;
    private boolean hasProgress;

    /**
     * @param mayRun whether a runnable task of the current attempt may take a step now
     */
    Scheduler(
            Scenario scenario,
            Checkpoints checkpoints,
            SimulatedNetwork network,
            Predicate<SimulatedTask> mayRun) {
        this.scenario = scenario;
        this.checkpoints = checkpoints;
        this.network = network;
        this.mayRun = mayRun;
        this.choices = new Choices(scenario.seed());
        this.waitingFacts = new WaitingFacts(scenario.shape().chunkBytes());
        this.maxSteps = MAX_STEPS + STEPS_OF_KEY_GROUP * scenario.shape().keyGroups();
    }

    /** Runs the tasks of an attempt from now on. */
    void start(JobAttempt attempt) {
        current = attempt;
        waitingFacts.reset();
        hasProgress = true;
        lastDataMs = VirtualTime.nowMs();
    }

    /**
     * Ends the current attempt.
     *
     * @param lingerSteps steps that its tasks still run, beside those of the next attempt
     */
    void end(int lingerSteps) {
        isLost = false;
        if (lingerSteps > 0) {
            lingering.add(new Lingering(current, step + lingerSteps));
        } else {
            IOUtils.closeQuietly(current);
        }
    }

    /** Whether the current attempt has lost a ring and must restart. */
    boolean isLost() {
        return isLost;
    }

    long step() {
        return step;
    }

    /** Whether a task has taken a step since the last checkpoint began. */
    boolean hasProgress() {
        return hasProgress;
    }

    void setProgress(boolean progress) {
        hasProgress = progress;
    }

    /** Whether no task has had data for a time, while timers of expiring rows recur forever. */
    boolean isQuietFor(int ms) {
        return scenario.shape().rowTtlMs() > 0 && VirtualTime.nowMs() - lastDataMs > ms;
    }

    /** Begins the next step of the life. */
    void beginStep() {
        countStep();
        waits = 0;
        VirtualTime.advanceNs(STEP_NS);
        closeLingering(step);
    }

    private void countStep() {
        if (++step > maxSteps) {
            throw new LifeFailure("the job stalled: steps=" + step);
        }
        choices.beginStep(step);
    }

    /** Closes the earlier attempts that end before a step. */
    void closeLingering(long atStep) {
        lingering.removeIf(old -> old.untilStep() <= atStep && closed(old));
    }

    private static boolean closed(Lingering old) {
        IOUtils.closeQuietly(old.attempt());
        return true;
    }

    /**
     * Runs a step of a task that the seed chooses.
     *
     * @return false if no task can take a step
     */
    boolean stepSomeTask() {
        List<SimulatedTask> runnable =
                current.tasks().stream()
                        .filter(this::mayStep)
                        .collect(Collectors.toCollection(ArrayList::new));
        for (Lingering old : lingering) {
            old.attempt().tasks().stream().filter(SimulatedTask::isRunnable).forEach(runnable::add);
        }
        if (runnable.isEmpty()) {
            return false;
        }
        step(runnable.get(choices.next(runnable.size())));
        return true;
    }

    private boolean mayStep(SimulatedTask task) {
        return task.isRunnable() && mayRun.test(task);
    }

    private void step(SimulatedTask task) {
        // A checkpoint does not contain what a task does after its barrier.
        boolean counts = !checkpoints.isPending() || checkpoints.hasSnapshotOf(task);
        hasProgress |= counts && task.hasWork() && !isQuietFor(Life.PAUSE_MS);
        if (task.hasData()) {
            lastDataMs = VirtualTime.nowMs();
        }
        act(
                task,
                () -> {
                    task.step(choices);
                    waitingFacts.check(task, current.sink());
                });
    }

    /**
     * Runs an action of a task. A failure ends the life, unless faults of the network explain it.
     */
    void act(SimulatedTask task, Action action) {
        busy.add(task);
        try {
            action.run();
        } catch (LifeFailure e) {
            throw e;
        } catch (Exception | Error e) {
            failed(task, e);
        } finally {
            busy.remove(task);
        }
    }

    private void failed(SimulatedTask task, Throwable cause) {
        if (current.tasks().contains(task)) {
            boolean isByNetwork =
                    network.isFaulty()
                            && ExceptionUtils.findThrowable(cause, SessionException.class)
                                    .isPresent();
            if (!isByNetwork && !isLost) {
                throw new LifeFailure("task failed: " + task.name() + ": " + cause, cause);
            }
            isLost = true;
        } else {
            // A task that outlives its attempt may fail in any way.
            lingering.replaceAll(
                    old ->
                            old.attempt().tasks().contains(task)
                                    ? new Lingering(old.attempt(), 0)
                                    : old);
        }
    }

    /** Runs another task above those that wait on the stack. */
    void stepWhileATaskWaits() {
        if (isLost) {
            throw new CancelTaskException("another task has lost a ring");
        }
        if (busy.isEmpty()) {
            return;
        }
        SimulatedTask waiting = busy.get(busy.size() - 1);
        countWait(waiting);
        List<SimulatedTask> runnable =
                current.tasks().stream()
                        .filter(task -> mayStep(task) && !busy.contains(task))
                        .filter(task -> mayStepAbove(waiting, task))
                        .toList();
        if (!runnable.isEmpty()) {
            countStep();
            step(runnable.get(choices.next(runnable.size())));
        }
    }

    private void countWait(SimulatedTask waiting) {
        if (++waits > MAX_LINGERING_WAITS && !current.tasks().contains(waiting)) {
            throw new CancelTaskException("the task is of an earlier attempt");
        }
        if (waits > MAX_STACKED_WAITS && busy.size() > 1) {
            // It may wait for a task below it on the stack, which a thread of its own would run.
            isLost = true;
            throw new CancelTaskException("the task waits above another one that waits");
        }
        if (waits > MAX_WAITS) {
            throw new LifeFailure(
                    "a task waits forever: " + busy.stream().map(SimulatedTask::name).toList());
        }
    }

    /**
     * Senders wait for the join to receive. A subtask of the join waits for memory to be written,
     * or for another subtask to build tables; no task may run above it that could wait for it.
     */
    private static boolean mayStepAbove(SimulatedTask waiting, SimulatedTask other) {
        return waiting.vertex.isSource() || waiting.vertex == other.vertex;
    }
}
