// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.ring;

import java.util.Arrays;
import java.util.OptionalInt;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.streaming.api.graph.NonChainedOutput;
import org.apache.flink.streaming.api.graph.StreamConfig;

/**
 * Finds the edge through which chunks of a packer leave its task for the owners of their
 * partitions.
 */
public final class RingSendEdge {

    private RingSendEdge() {}

    /**
     * Returns the number of the join's subtasks at the edge's end in this execution. The job graph
     * may differ, since Flink may rescale a vertex by itself.
     *
     * @param join prefix of the uids of the join's operators
     * @param side whose chunks the edge carries
     * @param config of the operator that starts the task's chain
     * @param classes class loader of the job
     * @return empty if the edge starts in another task, as without operator chaining
     */
    public static OptionalInt receivers(
            String join,
            JoinSide side,
            StreamConfig config,
            Environment task,
            ClassLoader classes) {
        return config.getVertexNonChainedOutputs(classes).stream()
                .filter(
                        output ->
                                output.getPartitioner() instanceof RingSendPartitioner send
                                        && send.join().equals(join)
                                        && send.side() == side)
                .flatMap(output -> Arrays.stream(task.getAllWriters()).filter(w -> isOf(w, output)))
                .mapToInt(ResultPartitionWriter::getNumberOfSubpartitions)
                .findFirst();
    }

    private static boolean isOf(ResultPartitionWriter writer, NonChainedOutput output) {
        return writer.getPartitionId()
                .getPartitionId()
                .getIntermediateDataSetID()
                .equals(output.getDataSetId());
    }
}
