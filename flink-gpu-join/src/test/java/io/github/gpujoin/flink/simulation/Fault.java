// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.simulation;

/**
 * Something that happens to a job.
 *
 * @param step before which it happens
 * @param parallelism afterwards, where the kind changes it
 * @param vertex whose parallelism changes, counted over all vertices again and again
 * @param lingerSteps for how long the tasks of the old attempt live on beside the new one
 */
record Fault(long step, Kind kind, int parallelism, int vertex, int lingerSteps) {

    enum Kind {
        /** All tasks fail and start over from the last checkpoint. */
        RESTART,
        /** As {@link #RESTART}, with another parallelism of all vertices. */
        RESCALE_ALL,
        /** As {@link #RESTART}, with another parallelism of one vertex. */
        RESCALE_ONE,
        /** The job stops with a savepoint, without draining, and goes on from it rescaled. */
        STOP,
        /** All sources end before their splits do, and the job with them. */
        DRAIN,
        /** Aborts the checkpoint in progress. */
        ABORT_CHECKPOINT
    }

    Fault at(long otherStep) {
        return new Fault(otherStep, kind, parallelism, vertex, lingerSteps);
    }

    @Override
    public String toString() {
        return switch (kind) {
            case RESTART -> "step " + step + ": restart" + lingers();
            case RESCALE_ALL ->
                    "step " + step + ": restart with parallelism " + parallelism + lingers();
            case RESCALE_ONE ->
                    "step "
                            + step
                            + ": restart with parallelism "
                            + parallelism
                            + " of vertex "
                            + vertex
                            + lingers();
            case STOP ->
                    "step "
                            + step
                            + ": stop with a savepoint, go on with parallelism "
                            + parallelism;
            case DRAIN -> "step " + step + ": drain";
            case ABORT_CHECKPOINT -> "step " + step + ": abort the checkpoint in progress";
        };
    }

    private String lingers() {
        return lingerSteps == 0 ? "" : ", old tasks live on for " + lingerSteps + " steps";
    }
}
