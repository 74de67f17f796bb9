// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.metrics;

import io.github.gpujoin.flink.api.explain.DimensionExplanation;
import io.github.gpujoin.flink.api.explain.Distribution;
import io.github.gpujoin.flink.api.explain.JoinExplanation;
import io.github.gpujoin.flink.api.explain.PartitionClass;
import io.github.gpujoin.flink.engine.EngineStatus;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.TaskInfo;

/** Explains how a subtask runs its join, from the plan and from its counts. */
public final class RunReport {

    private RunReport() {}

    /**
     * @param plan of the join
     * @param counts of the whole build side of the subtask
     */
    public static JoinExplanation of(
            JoinExplanation plan, TaskInfo task, EngineStatus engine, BuildCounts counts) {
        List<DimensionExplanation> dimensions = new ArrayList<>();
        for (int d = 0; d < plan.dimensions().size(); d++) {
            DimensionExplanation dimension = plan.dimensions().get(d);
            dimensions.add(
                    dimension.joinedBy(
                            counts.rows(d), classes(dimension, d, engine, counts.bytes(d))));
        }
        String subtask =
                "subtask "
                        + (task.getIndexOfThisSubtask() + 1)
                        + "/"
                        + task.getNumberOfParallelSubtasks();
        return plan.running(subtask, dimensions, counts.partitions());
    }

    private static List<PartitionClass> classes(
            DimensionExplanation dimension, int number, EngineStatus engine, long bytes) {
        List<PartitionClass> divided = engine.partitionClasses();
        if (dimension.distribution() == Distribution.PARTITIONED && !divided.isEmpty()) {
            return divided;
        }
        return List.of(
                new PartitionClass(
                        PartitionClass.ALL,
                        engine.engineName(),
                        engine.reason(),
                        bytes,
                        engine.spread(number),
                        engine.devices()));
    }
}
