// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

import io.github.gpujoin.flink.simulation.Checkpoint.TaskId;
import io.github.gpujoin.flink.simulation.Checkpoint.TaskState;
import io.github.gpujoin.flink.simulation.SimulatedTask.Phase;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** The checkpoints of a life, one at a time: the model of Flink's checkpoint coordinator. */
final class Checkpoints {

    private final SimulatedCoordinators coordinators;
    private @Nullable Checkpoint completed;
    private @Nullable Checkpoint pending;
    private Set<TaskId> missing = Set.of();
    private long count;

    Checkpoints(SimulatedCoordinators coordinators) {
        this.coordinators = coordinators;
    }

    boolean isPending() {
        return pending != null;
    }

    /** Whether the pending checkpoint has the state of a task. Its barriers may be in flight. */
    boolean hasSnapshotOf(SimulatedTask task) {
        return pending != null && task.lastSnapshot() == pending.id;
    }

    /** Returns the last completed checkpoint, or null if there is none. */
    @Nullable Checkpoint completed() {
        return completed;
    }

    /** Returns the number of checkpoints that began. */
    long count() {
        return count;
    }

    /**
     * Begins a checkpoint at the tasks that have no running senders.
     *
     * @return false if one is pending, or all tasks have ended
     */
    boolean trigger(JobAttempt attempt, boolean unaligned) {
        if (pending != null) {
            return false;
        }
        missing = new HashSet<>();
        Set<TaskId> ended = new HashSet<>();
        for (SimulatedTask task : attempt.tasks()) {
            (task.phase() == Phase.ENDED ? ended : missing).add(task.id);
        }
        if (missing.isEmpty()) {
            return false;
        }
        pending = new Checkpoint(++count, attempt.parallelism(), ended);
        coordinators.checkpointBegins(pending);
        for (SimulatedTask task : attempt.tasks()) {
            if (task.phase() != Phase.ENDED && task.startsCheckpoints()) {
                task.trigger(pending.id, unaligned);
            }
        }
        return true;
    }

    /**
     * Adds the state of a task to the pending checkpoint.
     *
     * @return whether it is now complete; the caller then calls {@link #announce}
     */
    boolean acknowledge(SimulatedTask task, long checkpoint, TaskState state) {
        if (pending == null || pending.id != checkpoint) {
            return false;
        }
        pending.states.put(task.id, state);
        missing.remove(task.id);
        if (!missing.isEmpty()) {
            return false;
        }
        completed = pending;
        pending = null;
        return true;
    }

    /** Commits the results of the completed checkpoint, and notifies coordinators and tasks. */
    void announce(JobAttempt attempt) {
        attempt.sink().commit(completed.id);
        coordinators.checkpointCompletes(completed);
        for (SimulatedTask task : attempt.tasks()) {
            task.announceComplete(completed.id);
        }
    }

    /**
     * Aborts the pending checkpoint.
     *
     * @return whether one was pending
     */
    boolean abort(JobAttempt attempt) {
        if (pending == null) {
            return false;
        }
        long checkpoint = pending.id;
        pending = null;
        coordinators.checkpointAborts(checkpoint);
        attempt.tasks().forEach(task -> task.abort(checkpoint));
        return true;
    }

    /** The tasks whose state is missing. */
    @Override
    public String toString() {
        return "missing=" + missing;
    }
}
