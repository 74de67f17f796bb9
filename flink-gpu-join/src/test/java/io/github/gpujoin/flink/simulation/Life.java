// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.JobPlan.Vertex;
import io.github.gpujoin.flink.simulation.SimulatedTask.Phase;
import io.github.gpujoin.rdma.session.SessionException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.runtime.execution.CancelTaskException;
import org.apache.flink.runtime.state.StateBackend;
import org.apache.flink.runtime.state.hashmap.HashMapStateBackend;
import org.apache.flink.state.rocksdb.EmbeddedRocksDBStateBackend;
import org.apache.flink.state.rocksdb.RocksDBOptions;
import org.apache.flink.streaming.api.operators.StreamOperatorFactory;
import org.apache.flink.util.ExceptionUtils;
import org.apache.flink.util.IOUtils;

/**
 * One life of a job, from its first deployment to its end: a model of Flink's JobManager, and the
 * scheduler that decides which task takes the next step.
 */
final class Life implements AutoCloseable {

    /**
     * Bound of the steps of a life but for those of key groups; one that takes more stands still.
     */
    private static final long MAX_STEPS = 6_000;

    /** Each sender says of each key group that a dimension is complete, in each attempt. */
    private static final long STEPS_OF_KEY_GROUP = 32;

    /**
     * Bound of the facts by which a subtask in JOIN may fall behind, as payload of their chunks.
     */
    private static final int MAX_WAITING_BYTES = 1 << 20;

    private static final long STEP_NS = TimeUnit.MICROSECONDS.toNanos(50);

    /** Longer than other timers of the join wait. */
    private static final int QUIET_MS = 150;

    /** After that long without data, nothing is left to be joined. */
    private static final int PAUSE_MS = 30;

    private static final StateBackend HEAP = new HashMapStateBackend();

    /** Takes memory of its own rather than that of slots, which the simulation does not model. */
    private static final StateBackend ROCKSDB =
            new EmbeddedRocksDBStateBackend()
                    .configure(
                            new Configuration().set(RocksDBOptions.USE_MANAGED_MEMORY, false),
                            Life.class.getClassLoader());

    /**
     * What a life's attempts have in common.
     *
     * @param hostGpu null in most lives, and without a C++ compiler
     */
    record Setting(Scenario scenario, SimulatedCoordinators coordinators, HostGpu hostGpu) {

        int channelCapacity() {
            return scenario.channelCapacity();
        }

        int burst() {
            return scenario.burst();
        }

        boolean blocksForBarriers() {
            return scenario.shape().isExactlyOnce();
        }

        List<Split> splitsOf(String source) {
            return scenario.splits().stream().filter(s -> s.source().equals(source)).toList();
        }

        String sourceOf(Vertex vertex) {
            return vertex.operator(vertex.head()).getOperatorName().replace("Source: ", "");
        }

        StreamOperatorFactory<Object> withDevices(StreamOperatorFactory<Object> factory) {
            if (hostGpu != null) {
                return FailingDevice.putInto(factory, gpu -> hostGpu);
            }
            return scenario.shape().hasFailingDevice()
                    ? FailingDevice.putInto(factory, scenario.goodCalls())
                    : factory;
        }

        StateBackend stateBackend() {
            return scenario.hasRocksDb() ? ROCKSDB : HEAP;
        }

        boolean isBounded(String source) {
            return scenario.isBounded(source);
        }
    }

    /** Longest time for which tasks wait in one step; more never ends. */
    private static final int MAX_WAITS = 100_000;

    /** The same for a task of an earlier attempt, whose peers may be gone. */
    private static final int MAX_LINGERING_WAITS = 200;

    /** The same for tasks on top of each other: more starts the attempt over. */
    private static final int MAX_STACKED_WAITS = 5_000;

    /** Attempts that may fail by faults of the network, before there are none any more. */
    private static final int MAX_LOSSES = 3;

    /** Tasks of an earlier attempt that have not heard of its end. */
    private record Lingering(JobAttempt attempt, long untilStep) {}

    private final JobPlan plan;
    private final long maxSteps;
    private final Scenario scenario;
    private Oracle oracle;
    private final Setting setting;
    private final Choices choices;
    private final SinkResults results;
    private final ArrayDeque<Fault> faults;
    private final List<Lingering> lingering = new ArrayList<>();
    private JobAttempt current;
    private final Map<TaskId, Integer> fewestWaiting = new HashMap<>();
    private final SimulatedCoordinators coordinators;
    private final SimulatedNetwork network;

    /** Tasks that are in the midst of a step, since one that waits lets others go on. */
    private final List<SimulatedTask> busy = new ArrayList<>();

    /** Whether the current attempt has lost a ring, and is to be started over. */
    private boolean lost;

    private int losses;
    private int waits;
    private int attempts;
    private long step;

    /** When a task last had something to read. */
    private long lastDataMs;

    private Checkpoint completed;
    private Checkpoint pending;
    private Set<TaskId> missing = Set.of();
    private long lastCheckpoint;
    private long lastTriggerStep;

    /** Whether a task has taken a step since the last checkpoint began. */
    private boolean progressSinceCheckpoint;

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
        this.maxSteps = MAX_STEPS + STEPS_OF_KEY_GROUP * scenario.shape().keyGroups();
        this.scenario = scenario;
        VirtualTime.reset();
        this.network = SimulatedNetwork.open(scenario.network(), scenario.seed());
        this.coordinators = new SimulatedCoordinators(plan, SimulatedEnvironment.JOB);
        this.setting =
                new Setting(
                        scenario,
                        coordinators,
                        scenario.shape().hasHostGpu() ? HostGpu.open(scenario.seed()) : null);
        this.choices = new Choices(scenario.seed());
        this.results = new SinkResults(scenario.sinkRowNs());
        this.faults = new ArrayDeque<>(scenario.faults());
    }

    /**
     * Runs the life to its end.
     *
     * @throws LifeFailure where the join did something wrong
     */
    void run() {
        VirtualTime.beside(this::inBackground, this::whileATaskWaits);
        deploy(uniform(scenario.parallelism()), null);
        while (!isOver()) {
            if (++step > maxSteps) {
                throw new LifeFailure("the job stands still: steps=" + step + ", " + this);
            }
            choices.beginStep(step);
            waits = 0;
            VirtualTime.advanceNs(STEP_NS);
            endLingering(step);
            if (lost) {
                restart(current.parallelism(), 0);
            }
            if (stoppingFor > 0 && pending == null) {
                int parallelism = stoppingFor;
                stoppingFor = 0;
                restart(uniform(parallelism), 0);
            }
            while (!faults.isEmpty() && faults.peek().step() <= step) {
                happen(faults.remove());
            }
            if (progressSinceCheckpoint && step - lastTriggerStep >= scenario.checkpointSteps()) {
                triggerCheckpoint();
            }
            stepSomeTask();
        }
        endLingering(Long.MAX_VALUE);
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

    private void stepSomeTask() {
        List<SimulatedTask> runnable =
                current.tasks().stream()
                        .filter(this::mayRun)
                        .collect(Collectors.toCollection(ArrayList::new));
        for (Lingering old : lingering) {
            old.attempt().tasks().stream().filter(SimulatedTask::isRunnable).forEach(runnable::add);
        }
        if (runnable.isEmpty()) {
            waitForSomething();
            return;
        }
        step(runnable.get(choices.next(runnable.size())));
    }

    private void step(SimulatedTask task) {
        // What a task does behind its barrier is not in the checkpoint.
        boolean behindBarrier = pending == null || task.lastSnapshot() == pending.id;
        progressSinceCheckpoint |= behindBarrier && task.hasWork() && !isQuietFor(PAUSE_MS);
        if (task.hasData()) {
            lastDataMs = VirtualTime.nowMs();
        }
        act(
                task,
                () -> {
                    task.step(choices);
                    watch(task);
                });
    }

    private interface Action {
        void run() throws Exception;
    }

    private void act(SimulatedTask task, Action action) {
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
            boolean byNetwork = network.isFaulty() && hasLostRing(cause);
            if (!byNetwork && !lost) {
                throw new LifeFailure("a task failed: " + task.name() + ": " + cause, cause);
            }
            lost = true;
        } else {
            // A task that lives on after its attempt may fail as it likes.
            lingering.replaceAll(
                    old ->
                            old.attempt().tasks().contains(task)
                                    ? new Lingering(old.attempt(), 0)
                                    : old);
        }
    }

    private static boolean hasLostRing(Throwable cause) {
        return ExceptionUtils.findThrowable(cause, SessionException.class).isPresent();
    }

    /** Messages arrive, and the rings' own threads go on. */
    private void inBackground() {
        coordinators.deliver();
        network.step();
    }

    /** Lets another task go on, on top of those that wait. */
    private void whileATaskWaits() {
        if (lost) {
            throw new CancelTaskException("another task has lost a ring");
        }
        if (busy.isEmpty()) {
            return;
        }
        SimulatedTask waiting = busy.get(busy.size() - 1);
        if (++waits > MAX_LINGERING_WAITS && !current.tasks().contains(waiting)) {
            throw new CancelTaskException("the task is of an earlier attempt");
        }
        if (waits > MAX_STACKED_WAITS && busy.size() > 1) {
            // It may wait for a task below it on the stack, which a thread of its own would run.
            lost = true;
            throw new CancelTaskException("the task stands on another one that waits");
        }
        if (waits > MAX_WAITS) {
            throw new LifeFailure(
                    "a task waits for ever: " + busy.stream().map(SimulatedTask::name).toList());
        }
        List<SimulatedTask> runnable =
                current.tasks().stream()
                        .filter(task -> mayRun(task) && !busy.contains(task))
                        .filter(task -> mayGoOnAbove(waiting, task))
                        .toList();
        if (!runnable.isEmpty()) {
            if (++step > maxSteps) {
                throw new LifeFailure("the job stands still: steps=" + step + ", " + this);
            }
            choices.beginStep(step);
            step(runnable.get(choices.next(runnable.size())));
        }
    }

    /** Facts that wait in JOIN are bounded: only those of LOAD may be many, and they get fewer. */
    private void watch(SimulatedTask task) {
        if (!current.sink().hasRows(task.id.subtask())) {
            return;
        }
        int waiting = task.waitingChunks();
        int fewest = Math.min(waiting, fewestWaiting.getOrDefault(task.id, Integer.MAX_VALUE));
        fewestWaiting.put(task.id, fewest);
        if (waiting - fewest > Math.max(8, MAX_WAITING_BYTES / scenario.shape().chunkBytes())) {
            throw new LifeFailure(
                    "facts that wait in JOIN become more: chunks="
                            + waiting
                            + ", before="
                            + fewest);
        }
    }

    private static boolean closed(Lingering old) {
        IOUtils.closeQuietly(old.attempt());
        return true;
    }

    /** A source that stops with a savepoint emits nothing behind its barrier. */
    private boolean mayRun(SimulatedTask task) {
        return task.isRunnable()
                && !(stoppingFor > 0 && task.vertex.isSource() && !task.isTriggered());
    }

    /** No task can go on before time passes, or a checkpoint tells it to end. */
    private void waitForSomething() {
        long timerMs =
                current.tasks().stream()
                        .filter(task -> task.phase() != Phase.ENDED)
                        .mapToLong(SimulatedTask::nextTimerMs)
                        .min()
                        .orElse(Long.MAX_VALUE);
        if (timerMs != Long.MAX_VALUE && !isQuietFor(2 * scenario.shape().rowTtlMs() + QUIET_MS)) {
            VirtualTime.advanceNs(
                    TimeUnit.MILLISECONDS.toNanos(Math.max(1, timerMs - VirtualTime.nowMs())));
        } else if (pending != null) {
            throw new LifeFailure("a checkpoint never completes: missing=" + missing);
        } else if (current.tasks().stream().anyMatch(SimulatedTask::isAtGate)) {
            current.tasks().forEach(SimulatedTask::openGates);
        } else if (progressSinceCheckpoint) {
            triggerCheckpoint();
        } else if (!drainUnbounded()) {
            throw new LifeFailure("the job stands still: " + oracle.missing(results.committed()));
        }
    }

    /**
     * Whether nothing came for so long, while timers of rows that live for a time go on for ever.
     */
    private boolean isQuietFor(int ms) {
        return scenario.shape().rowTtlMs() > 0 && VirtualTime.nowMs() - lastDataMs > ms;
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
                act(task, () -> task.stop(true));
            }
        }
        progressSinceCheckpoint = any;
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
                act(task, () -> task.stop(true));
            }
        }
        oracle = new Oracle(scenario.cutAt(positions));
        progressSinceCheckpoint = true;
    }

    /**
     * Senders wait for the join to take. A subtask of the join waits for memory to be written, or
     * for another one to build tables; nobody goes on above it who would wait for it.
     */
    private static boolean mayGoOnAbove(SimulatedTask waiting, SimulatedTask other) {
        return waiting.vertex.isSource() || waiting.vertex == other.vertex;
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
                if (pending == null && !endsWithSavepoint && trigger(false)) {
                    stoppingFor = fault.parallelism();
                }
            }
            case DRAIN -> drain();
            case ABORT_CHECKPOINT -> abortCheckpoint();
        }
    }

    private void restart(List<Integer> parallelism, int lingerSteps) {
        abortCheckpoint();
        if (lost && ++losses == MAX_LOSSES) {
            network.heal();
        }
        lost = false;
        JobAttempt old = current;
        if (lingerSteps > 0) {
            lingering.add(new Lingering(old, step + lingerSteps));
        } else {
            IOUtils.closeQuietly(old);
        }
        deploy(parallelism, completed);
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
        fewestWaiting.clear();
        progressSinceCheckpoint = true;
        if (!endsWithSavepoint || from == null || from.id != savepoint) {
            drained = false;
            endsWithSavepoint = false;
            oracle = new Oracle(scenario);
        }
        lastDataMs = VirtualTime.nowMs();
        lastTriggerStep = step;
    }

    private void endLingering(long atStep) {
        lingering.removeIf(old -> old.untilStep() <= atStep && closed(old));
    }

    // ------------------------------------------------------------------ checkpoints

    private void triggerCheckpoint() {
        trigger(scenario.shape().unaligned() && !endsWithSavepoint);
    }

    /** Savepoints are aligned, whatever checkpoints are. */
    private boolean trigger(boolean unaligned) {
        lastTriggerStep = step;
        if (pending != null) {
            return false;
        }
        missing = new HashSet<>();
        Set<TaskId> ended = new HashSet<>();
        for (SimulatedTask task : current.tasks()) {
            (task.phase() == Phase.ENDED ? ended : missing).add(task.id);
        }
        if (missing.isEmpty()) {
            return false;
        }
        pending = new Checkpoint(++lastCheckpoint, current.parallelism(), ended);
        coordinators.checkpointBegins(pending);
        for (SimulatedTask task : current.tasks()) {
            if (task.phase() != Phase.ENDED && task.startsCheckpoints()) {
                task.trigger(pending.id, unaligned);
            }
        }
        progressSinceCheckpoint = false;
        return true;
    }

    private void acknowledge(SimulatedTask task, long checkpoint, TaskState state) {
        if (pending == null || pending.id != checkpoint || !current.tasks().contains(task)) {
            return;
        }
        pending.states.put(task.id, state);
        missing.remove(task.id);
        if (missing.isEmpty()) {
            complete();
        }
    }

    private void complete() {
        completed = pending;
        pending = null;
        if (endsWithSavepoint) {
            savepoint = completed.id;
            faults.clear();
        }
        current.sink().commit(completed.id);
        coordinators.checkpointCompletes(completed);
        for (SimulatedTask task : current.tasks()) {
            task.announceComplete(completed.id);
        }
    }

    private void abortCheckpoint() {
        stoppingFor = 0;
        if (pending != null) {
            long checkpoint = pending.id;
            pending = null;
            coordinators.checkpointAborts(checkpoint);
            current.tasks().forEach(task -> task.abort(checkpoint));
            progressSinceCheckpoint = true;
        }
    }

    /** What the life came to. */
    @Override
    public String toString() {
        return "steps="
                + step
                + ", attempts="
                + attempts
                + ", checkpoints="
                + lastCheckpoint
                + ", ms="
                + VirtualTime.nowMs()
                + ", results="
                + results.committed();
    }

    @Override
    public void close() {
        endLingering(Long.MAX_VALUE);
        if (current != null) {
            IOUtils.closeQuietly(current);
        }
        IOUtils.closeAllQuietly(coordinators, network, setting.hostGpu());
    }
}
