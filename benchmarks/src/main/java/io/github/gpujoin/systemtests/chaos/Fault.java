// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import java.util.List;

/**
 * One fault of a run.
 *
 * @param phase of the job in which it comes
 * @param point of a checkpoint at which it comes
 * @param offsetMs after the phase began and the previous fault was over, before the point is
 *     awaited
 * @param subtask whose TaskManager is hit; faults of connections hit all TaskManagers
 * @param durationMs 0 where a fault is over at once
 */
record Fault(Phase phase, Point point, int offsetMs, Action action, int subtask, int durationMs) {

    /** Of the job. */
    enum Phase {
        /** The first dimension is being read. */
        LOAD,
        /** All dimensions have been read. */
        JOIN
    }

    /** Of a checkpoint. */
    enum Point {
        /** With or without a checkpoint in progress. */
        ANY,
        /** Barriers are in flight; one source delays its own, so the join waits for it. */
        BARRIER,
        /** The join has all barriers, and the checkpoint lacks the snapshot of one source. */
        SNAPSHOT
    }

    /** What is done. */
    enum Action {
        /** SIGKILL to a TaskManager; another one is started. */
        KILL,
        /** SIGSTOP to a TaskManager, and SIGCONT after the duration. */
        PAUSE,
        /** SIGSTOP and SIGCONT to a TaskManager, in turns, so that it runs half of the time. */
        SLOW,
        /**
         * All connections to the JobManager are closed; new ones too until the duration is over.
         */
        CUT_CONNECTIONS,
        /** No byte moves between TaskManagers and JobManager, both ways. */
        STALL_CONNECTIONS,
        /** What moves between TaskManagers and JobManager comes late. */
        SLOW_CONNECTIONS,
        /** SIGKILL to the JobManager; another one is started, and recovers the job. */
        KILL_JOBMANAGER,
        /** As PAUSE, far beyond the heartbeat timeout. */
        STOP,
        /** All connections between TaskManagers are closed, as in CUT_CONNECTIONS. */
        CUT_TASKMANAGERS,
        /** A TaskManager can open no more files and sockets until the duration is over. */
        FILL_DESCRIPTORS,
        /** The disk of local state and checkpoints is full until the duration is over. */
        FILL_DISK;

        /** Whether one TaskManager is hit, the subtask's. */
        boolean hitsTaskManager() {
            return switch (this) {
                case KILL, PAUSE, SLOW, STOP, FILL_DESCRIPTORS -> true;
                default -> false;
            };
        }
    }

    /** Those that the plans of a seed draw from unless all are asked for. */
    static final List<Action> COMMON =
            List.of(
                    Action.KILL,
                    Action.PAUSE,
                    Action.SLOW,
                    Action.CUT_CONNECTIONS,
                    Action.STALL_CONNECTIONS,
                    Action.SLOW_CONNECTIONS);

    @Override
    public String toString() {
        String where = point == Point.ANY ? "" : " at " + point;
        String target = action.hitsTaskManager() ? " subtask=" + subtask : "";
        String length = durationMs == 0 ? "" : " durationMs=" + durationMs;
        return "%s after %d ms of %s%s%s%s"
                .formatted(action, offsetMs, phase, where, target, length);
    }
}
