// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.state;

import java.time.Duration;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.environment.CheckpointConfig;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Rejects checkpoints after which rows would be doubled or lost.
 *
 * <p>An at-least-once checkpoint holds build rows that their source sends again after a restore,
 * and the build log would keep both copies.
 *
 * <p>An unaligned checkpoint without an alignment timeout can lose splits of a source. Flink 2.3.0
 * puts the trigger of such a checkpoint in front of all mails of a task ({@code
 * StreamTask#triggerCheckpointAsync}). So it precedes splits that the enumerator has assigned. The
 * checkpoint then holds these splits in neither the enumerator's state nor the reader's. With a
 * timeout the trigger keeps its order. A join widens the gap, because its packers run in the
 * sources' tasks.
 */
public final class ExactlyOnce {

    private static final Logger LOG = LoggerFactory.getLogger(ExactlyOnce.class);

    private static final Duration SHORTEST_ALIGNMENT = Duration.ofMillis(1);

    private ExactlyOnce() {}

    /**
     * Checks a job that is being built.
     *
     * @throws IllegalStateException if the job checkpoints at least once
     */
    public static void require(CheckpointConfig config) {
        if (config.isCheckpointingEnabled()
                && config.getCheckpointingConsistencyMode() != CheckpointingMode.EXACTLY_ONCE) {
            throw refusal(config.getCheckpointingConsistencyMode());
        }
    }

    /** Sets the shortest alignment timeout for a job that is being built, if it has none. */
    public static void keepSplits(CheckpointConfig config) {
        if (config.isUnalignedCheckpointsEnabled()
                && config.getAlignedCheckpointTimeout().isZero()) {
            LOG.info(
                    "Setting {} to {} ms: without it, Flink 2.3.0 may lose splits of sources in a restart.",
                    CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT.key(),
                    SHORTEST_ALIGNMENT.toMillis());
            config.setAlignedCheckpointTimeout(SHORTEST_ALIGNMENT);
        }
    }

    /**
     * Checks a task that starts, since options may have been set after the join was built, or by
     * the cluster's configuration.
     *
     * @throws SuppressRestartsException if the job checkpoints at least once, or unaligned without
     *     an alignment timeout, since a restart would meet the same options
     */
    public static void requireAtStart(Configuration job) {
        CheckpointingMode mode = CheckpointingOptions.getCheckpointingMode(job);
        if (CheckpointingOptions.isCheckpointingEnabled(job)
                && mode != CheckpointingMode.EXACTLY_ONCE) {
            throw new SuppressRestartsException(refusal(mode));
        }
        if (CheckpointingOptions.isUnalignedCheckpointEnabled(job)
                && job.get(CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT).isZero()) {
            throw new SuppressRestartsException(
                    new IllegalStateException(
                            "Unaligned checkpoints without an alignment timeout may lose splits of sources.\nSet %s: 1 ms."
                                    .formatted(
                                            CheckpointingOptions.ALIGNED_CHECKPOINT_TIMEOUT
                                                    .key())));
        }
    }

    /**
     * Declines a savepoint if checkpointing is off, since Flink then takes it at least once. The
     * job continues: an exception would fail the task, and Flink counts most other reasons as
     * failed checkpoints, of which it tolerates none by default.
     */
    public static void declineUnaligned(Environment task, long checkpointId) {
        if (!CheckpointingOptions.isCheckpointingEnabled(task.getJobConfiguration())) {
            task.declineCheckpoint(
                    checkpointId,
                    new CheckpointException(
                            "Without checkpointing, a savepoint would count dimension rows twice."
                                    + " Set "
                                    + CheckpointingOptions.CHECKPOINTING_INTERVAL.key()
                                    + ", to hours if need be.",
                            CheckpointFailureReason.CHECKPOINT_DECLINED_TASK_NOT_READY));
        }
    }

    private static IllegalStateException refusal(CheckpointingMode mode) {
        return new IllegalStateException(
                "Checkpointing mode "
                        + mode
                        + " would count dimension rows twice after a restart. Set "
                        + CheckpointingOptions.CHECKPOINTING_CONSISTENCY_MODE.key()
                        + ": EXACTLY_ONCE.");
    }
}
