// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange.local;

import java.util.Arrays;
import java.util.Optional;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.partition.ResultPartitionID;
import org.apache.flink.runtime.io.network.partition.ResultSubpartitionIndexSet;
import org.apache.flink.runtime.io.network.partition.consumer.InputChannel;
import org.apache.flink.runtime.io.network.partition.consumer.InputGate;
import org.apache.flink.streaming.api.graph.NonChainedOutput;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.runtime.partitioner.ForwardPartitioner;

/**
 * An edge between one subpartition and one channel in the deployed job. The job graph does not show
 * such edges: Flink may rescale each vertex by itself, and a forward edge then connects a subtask
 * with several others.
 *
 * @param partition of the sender; the identifier contains its execution attempt
 * @param subpartition index in the partition
 */
public record OneToOneEdge(ResultPartitionID partition, int subpartition) {

    /** Returns the edge of an input, if the input has one channel that reads one subpartition. */
    public static Optional<OneToOneEdge> into(InputGate gate) {
        if (gate.getNumberOfInputChannels() != 1) {
            return Optional.empty();
        }
        InputChannel channel = gate.getChannel(0);
        ResultSubpartitionIndexSet read = channel.getConsumedSubpartitionIndexSet();
        return read.size() == 1
                ? Optional.of(new OneToOneEdge(channel.getPartitionId(), read.getStartIndex()))
                : Optional.empty();
    }

    /**
     * Returns the forward edge of an operator's main output, if one subtask reads all its records.
     *
     * @param operator with at most one such edge
     */
    public static Optional<OneToOneEdge> outOf(
            StreamConfig operator, Environment task, ClassLoader classes) {
        return operator.getOperatorNonChainedOutputs(classes).stream()
                .filter(output -> output.getOutputTag() == null)
                .filter(output -> output.getPartitioner() instanceof ForwardPartitioner)
                .findFirst()
                .flatMap(output -> writerOf(output, task))
                .filter(writer -> writer.getNumberOfSubpartitions() == 1)
                .map(writer -> new OneToOneEdge(writer.getPartitionId(), 0));
    }

    private static Optional<ResultPartitionWriter> writerOf(
            NonChainedOutput output, Environment task) {
        return Arrays.stream(task.getAllWriters())
                .filter(
                        writer ->
                                writer.getPartitionId()
                                        .getPartitionId()
                                        .getIntermediateDataSetID()
                                        .equals(output.getDataSetId()))
                .findFirst();
    }
}
