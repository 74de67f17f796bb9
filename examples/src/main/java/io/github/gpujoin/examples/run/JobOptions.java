// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.examples.run;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import java.time.Duration;
import java.util.Locale;
import java.util.Map;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.configuration.CheckpointingOptions;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.CoreOptions;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.configuration.PipelineOptions;
import org.apache.flink.configuration.StateBackendOptions;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Command-line options that all jobs share. Flink's defaults apply to options not set. */
public final class JobOptions {

    /** Flink's state backends. */
    enum State {
        HASHMAP,
        ROCKSDB
    }

    private static final int MAX_PARALLELISM = 128;

    @Spec(Spec.Target.MIXEE)
    private CommandSpec command;

    @Option(
            names = "--engine",
            paramLabel = "ENGINE",
            description =
                    "join engine: auto (the GPU if there is one, in batch mode if a failed task is"
                            + " restarted), gpu, cpu or reference")
    private GpuJoinOptions.@Nullable Engine engine;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description = "transport of partitioned sides between subtasks: flink, shm or disni")
    private @Nullable String transport;

    @Option(
            names = "--state",
            paramLabel = "BACKEND",
            description = "state backend: hashmap or rocksdb")
    private @Nullable State state;

    @Option(
            names = "--parallelism",
            paramLabel = "N",
            description =
                    "subtasks of each operator, 1 to 128; default: the number of cores, or the"
                            + " default parallelism of the cluster")
    private @Nullable Integer parallelism;

    @Option(
            names = "--checkpoint-interval",
            paramLabel = "MS",
            description =
                    "checkpoint interval in milliseconds, 0 for none; default: Flink's setting")
    private @Nullable Long checkpointIntervalMs;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description =
                    "sets an option of Flink or of the join, as in config.yaml; repeatable. The"
                            + " options above override it")
    private Map<String, String> properties = Map.of();

    /** Returns the slots of an embedded cluster: the parallelism, or the number of cores. */
    public int slots() {
        return configuration()
                .getOptional(CoreOptions.DEFAULT_PARALLELISM)
                .orElseGet(
                        () ->
                                Math.min(
                                        Runtime.getRuntime().availableProcessors(),
                                        MAX_PARALLELISM));
    }

    /**
     * Returns the options as a Flink configuration of a job of bounded inputs: in batch mode,
     * unless another mode or checkpoints are asked for.
     *
     * @throws ParameterException if an option is unknown or out of range
     */
    public Configuration boundedConfiguration() {
        Configuration options = configuration();
        boolean isAsked = properties.containsKey(ExecutionOptions.RUNTIME_MODE.key());
        Duration interval = options.get(CheckpointingOptions.CHECKPOINTING_INTERVAL);
        if (!isAsked && (interval == null || interval.isZero())) {
            options.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.BATCH);
        }
        return options;
    }

    /**
     * Returns the options as a Flink configuration, in streaming mode unless another is asked for.
     *
     * @throws ParameterException if an option is unknown or out of range
     */
    public Configuration configuration() {
        if (parallelism != null) {
            requireParallelism("--parallelism", parallelism);
        }
        require(
                checkpointIntervalMs == null
                        || checkpointIntervalMs == 0
                        || checkpointIntervalMs >= 10,
                "Invalid --checkpoint-interval: "
                        + checkpointIntervalMs
                        + " ms. Use 0 or at least 10 ms.");
        properties.keySet().forEach(this::requireKnown);
        Configuration options = Configuration.fromMap(properties);
        if (!options.contains(ExecutionOptions.RUNTIME_MODE)) {
            options.set(ExecutionOptions.RUNTIME_MODE, RuntimeExecutionMode.STREAMING);
        }
        options.set(PipelineOptions.MAX_PARALLELISM, MAX_PARALLELISM);
        options.set(PipelineOptions.GENERIC_TYPES, false);
        if (engine != null) {
            options.set(GpuJoinOptions.ENGINE, engine);
        }
        if (transport != null) {
            options.set(GpuJoinOptions.TRANSPORT, transport);
        }
        if (state != null) {
            options.set(StateBackendOptions.STATE_BACKEND, state.name().toLowerCase(Locale.ROOT));
        }
        if (parallelism != null) {
            options.set(CoreOptions.DEFAULT_PARALLELISM, parallelism);
        }
        options.getOptional(CoreOptions.DEFAULT_PARALLELISM)
                .ifPresent(set -> requireParallelism(CoreOptions.DEFAULT_PARALLELISM.key(), set));
        if (checkpointIntervalMs != null) {
            options.set(
                    CheckpointingOptions.CHECKPOINTING_INTERVAL,
                    Duration.ofMillis(checkpointIntervalMs));
        }
        return options;
    }

    private void requireKnown(String key) {
        require(
                !key.startsWith(GpuJoinOptions.PREFIX) || GpuJoinOptions.isKnown(key),
                GpuJoinOptions.unknown(key));
    }

    private void requireParallelism(String name, int found) {
        require(
                found >= 1 && found <= MAX_PARALLELISM,
                "Invalid " + name + ": " + found + ". Use 1 to " + MAX_PARALLELISM + ".");
    }

    private void require(boolean isValid, String message) {
        if (!isValid) {
            throw new ParameterException(command.commandLine(), message);
        }
    }
}
