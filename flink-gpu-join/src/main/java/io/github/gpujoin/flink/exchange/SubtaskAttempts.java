// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange;

import java.util.HashMap;
import java.util.Map;
import org.apache.flink.runtime.executiongraph.ExecutionAttemptID;

/**
 * What a coordinator knows of the current attempt of each subtask, and forgets with it. Guarded by
 * itself, as methods of subclasses are.
 */
public abstract class SubtaskAttempts {

    /** The current attempts that have started. */
    private final Map<Integer, ExecutionAttemptID> started = new HashMap<>();

    /** Records that an attempt of a subtask has started. */
    public final synchronized void started(int subtask, ExecutionAttemptID attempt) {
        // Flink may repeat the message after failures that overlap.
        if (!attempt.equals(started.get(subtask))) {
            reset(subtask);
            started.put(subtask, attempt);
        }
    }

    /** Records that an attempt of a subtask has failed or was cancelled. */
    public final synchronized void ended(int subtask, int attemptNumber) {
        ExecutionAttemptID current = started.get(subtask);
        if (current != null && current.getAttemptNumber() == attemptNumber) {
            reset(subtask);
        }
    }

    /** Forgets the current attempt of a subtask. */
    public final synchronized void reset(int subtask) {
        started.remove(subtask);
        forget(subtask);
    }

    /** Forgets all attempts. */
    public final synchronized void resetAll() {
        started.clear();
        forgetAll();
    }

    /** Returns whether an attempt is the current one of its subtask. The caller holds the lock. */
    protected final boolean isCurrent(ExecutionAttemptID attempt) {
        return attempt.equals(started.get(attempt.getSubtaskIndex()));
    }

    /** Returns whether a subtask has a current attempt. The caller holds the lock. */
    protected final boolean hasStarted(int subtask) {
        return started.containsKey(subtask);
    }

    /** Forgets what is known of a subtask. The caller holds the lock. */
    protected abstract void forget(int subtask);

    /** Forgets what is known of all subtasks. The caller holds the lock. */
    protected abstract void forgetAll();
}
