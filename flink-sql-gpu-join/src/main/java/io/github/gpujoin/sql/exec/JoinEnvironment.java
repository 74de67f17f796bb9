// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.sql.exec;

import io.github.gpujoin.flink.api.options.GpuJoinOptions;
import io.github.gpujoin.flink.state.ExactlyOnce;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.dag.Transformation;
import org.apache.flink.configuration.Configuration;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.core.memory.ManagedMemoryUseCase;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.table.data.RowData;
import org.apache.flink.table.planner.delegation.PlannerBase;

/**
 * The environment in which a join of a plan is built, with the configuration of the statement.
 * Operators of a join add themselves to their environment. In the one of the job they would stay
 * there, also if the statement is only explained.
 */
final class JoinEnvironment {

    /** Weight of a join among the operators of its slots. */
    private static final int WEIGHT = 4;

    private final StreamExecutionEnvironment env;

    private JoinEnvironment(StreamExecutionEnvironment env) {
        this.env = env;
    }

    static JoinEnvironment of(PlannerBase planner, RuntimeExecutionMode mode) {
        StreamExecutionEnvironment job = planner.getExecEnv();
        ExactlyOnce.keepSplits(job.getCheckpointConfig());
        Configuration config = Configuration.fromMap(job.getConfiguration().toMap());
        config.set(ExecutionOptions.RUNTIME_MODE, mode);
        StreamExecutionEnvironment env = new StreamExecutionEnvironment(config);
        env.setParallelism(job.getParallelism());
        return new JoinEnvironment(env);
    }

    DataStream<RowData> stream(Transformation<RowData> rows) {
        return new DataStream<>(env, rows);
    }

    StreamExecutionEnvironment streams() {
        return env;
    }

    /**
     * Returns a join of streaming mode, after it has reduced the join's share of managed memory.
     * Operators of the planner, such as window aggregates, have a weight of 1 there, and fail with
     * less than 1 MiB. An option of the join's memory sets the weight as elsewhere.
     */
    Transformation<RowData> sharingMemory(Transformation<RowData> join) {
        if (env.getConfiguration().getOptional(GpuJoinOptions.CPU_MEMORY).isEmpty()) {
            for (Transformation<?> each : env.getTransformations()) {
                if (each.getManagedMemoryOperatorScopeUseCaseWeights()
                        .containsKey(ManagedMemoryUseCase.OPERATOR)) {
                    each.declareManagedMemoryUseCaseAtOperatorScope(
                            ManagedMemoryUseCase.OPERATOR, WEIGHT);
                }
            }
        }
        return join;
    }
}
