package io.github.gpujoin.flink.checkpoint;

import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.core.execution.CheckpointingMode;
import org.apache.flink.runtime.checkpoint.CheckpointException;
import org.apache.flink.runtime.checkpoint.CheckpointFailureReason;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.execution.SuppressRestartsException;
import org.apache.flink.streaming.api.environment.CheckpointConfig;

/**
 * Refuses snapshots whose barriers Flink does not align. Such a snapshot holds build rows that
 * their source sends again after a restore, and the build log would keep both copies for good.
 */
public final class ExactlyOnce {

    private ExactlyOnce() {}

    /**
     * Checks a job that is being made.
     *
     * @throws IllegalStateException if the job checkpoints at least once
     */
    public static void require(CheckpointConfig config) {
        if (config.isCheckpointingEnabled()
                && config.getCheckpointingConsistencyMode() != CheckpointingMode.EXACTLY_ONCE) {
            throw refusal(config.getCheckpointingConsistencyMode());
        }
    }

    /**
     * Checks a task that starts: the mode may have been set after the join was made, or by the
     * cluster's configuration.
     *
     * @throws SuppressRestartsException if the job checkpoints at least once, since a restart would
     *     meet the same mode
     */
    public static void requireAtStart(Configuration job) {
        CheckpointingMode mode = CheckpointingOptions.getCheckpointingMode(job);
        if (CheckpointingOptions.isCheckpointingEnabled(job)
                && mode != CheckpointingMode.EXACTLY_ONCE) {
            throw new SuppressRestartsException(refusal(mode));
        }
    }

    /**
     * Declines a savepoint if checkpointing is off: Flink takes it at least once then. The task
     * runs on, which it would not if it threw.
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
                            CheckpointFailureReason.CHECKPOINT_DECLINED));
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
