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
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** Options of the command line that all jobs have; those not given are left to Flink. */
public final class JobOptions {

    /** Where Flink keeps state. */
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
                    "engine that joins: auto (the GPU where there is one), gpu, cpu or reference")
    private GpuJoinOptions.Engine engine;

    @Option(
            names = "--transport",
            paramLabel = "NAME",
            description =
                    "how rows of partitioned sides travel between subtasks: flink, shm or disni")
    private String transport;

    @Option(
            names = "--state",
            paramLabel = "BACKEND",
            description = "where state is kept: hashmap or rocksdb")
    private State state;

    @Option(
            names = "--parallelism",
            paramLabel = "N",
            description =
                    "subtasks of each operator, 1 to 128; default: one for each core, on a cluster"
                            + " what its configuration says")
    private Integer parallelism;

    @Option(
            names = "--checkpoint-interval",
            paramLabel = "MS",
            description = "milliseconds between checkpoints, 0 for none; default: Flink's setting")
    private Long checkpointIntervalMs;

    @Option(
            names = "-D",
            paramLabel = "KEY=VALUE",
            description =
                    "sets an option of Flink or of the join, as in config.yaml; can be repeated."
                            + " The options above come before it")
    private Map<String, String> properties = Map.of();

    /** Subtasks of each operator when the command runs by itself. */
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
     * The options as Flink's.
     *
     * @throws ParameterException where one is out of range
     */
    public Configuration configuration() {
        if (parallelism != null) {
            requireParallelism("--parallelism", parallelism);
        }
        require(
                checkpointIntervalMs == null
                        || checkpointIntervalMs == 0
                        || checkpointIntervalMs >= 10,
                "--checkpoint-interval is 0 or at least 10 milliseconds: interval="
                        + checkpointIntervalMs);
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
                name + " is 1 to " + MAX_PARALLELISM + ": parallelism=" + found);
    }

    private void require(boolean holds, String rule) {
        if (!holds) {
            throw new ParameterException(command.commandLine(), rule);
        }
    }
}
