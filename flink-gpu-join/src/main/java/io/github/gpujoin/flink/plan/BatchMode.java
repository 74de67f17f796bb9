// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import java.util.Collection;
import org.apache.flink.api.common.RuntimeExecutionMode;
import org.apache.flink.api.connector.source.Boundedness;
import org.apache.flink.configuration.ExecutionOptions;
import org.apache.flink.streaming.api.datastream.DataStream;
import org.apache.flink.streaming.api.environment.StreamExecutionEnvironment;
import org.apache.flink.streaming.api.transformations.WithBoundedness;

/** Determines while a join is made whether its job will run in batch mode. */
final class BatchMode {

    private BatchMode() {}

    /**
     * Whether the job will run in batch mode, as Flink decides: by its option, and if that is
     * AUTOMATIC, by its sources. Sources that are added later may still change Flink's decision,
     * which the operators detect when they start.
     *
     * @param inputs of the join
     */
    static boolean isUsed(StreamExecutionEnvironment env, Collection<DataStream<?>> inputs) {
        RuntimeExecutionMode mode = env.getConfiguration().get(ExecutionOptions.RUNTIME_MODE);
        return switch (mode) {
            case STREAMING -> false;
            case BATCH -> true;
            case AUTOMATIC -> inputs.stream().allMatch(BatchMode::isBounded);
        };
    }

    private static boolean isBounded(DataStream<?> stream) {
        return stream.getTransformation().getTransitivePredecessors().stream()
                .noneMatch(
                        source ->
                                source instanceof WithBoundedness bounds
                                        && bounds.getBoundedness() != Boundedness.BOUNDED);
    }
}
