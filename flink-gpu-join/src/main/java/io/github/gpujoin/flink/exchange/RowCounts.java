// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.exchange;

import io.github.gpujoin.core.layout.Chunk;
import java.util.List;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.OperatorIOMetricGroup;
import org.apache.flink.metrics.groups.OperatorMetricGroup;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.graph.StreamEdge;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * Corrects Flink's metrics of an operator and its task to count rows and their bytes. Flink counts
 * each chunk as one record, and counts the bytes of a ticket instead of those of the chunk it
 * announces. Load marks and tickets contain no rows, so they count as no records.
 *
 * <p>Runs in the task's mailbox thread.
 */
public final class RowCounts {

    private final Counter recordsIn;
    private final Counter recordsOut;
    private final Counter taskRecordsOut;
    private final Counter taskBytesIn;
    private final Counter taskBytesOut;

    /** What Flink adds to {@link #recordsOut} for a record of the main output. */
    private final int countedByFlink;

    /**
     * Creates the counts of an operator.
     *
     * @param operator an operator that Flink has set up; the first of its task if it receives
     *     tickets
     */
    public RowCounts(AbstractStreamOperator<?> operator) {
        this(
                operator.getMetricGroup(),
                operator.getOperatorConfig(),
                operator.getContainingTask().getEnvironment());
    }

    /**
     * Creates the counts of an operator.
     *
     * @param operatorGroup of the operator
     * @param config of the operator
     * @param task of the operator
     */
    public RowCounts(OperatorMetricGroup operatorGroup, StreamConfig config, Environment task) {
        OperatorIOMetricGroup ofOperator = operatorGroup.getIOMetricGroup();
        TaskIOMetricGroup ofTask = task.getMetricGroup().getIOMetricGroup();
        ClassLoader classes = task.getUserCodeClassLoader().asClassLoader();
        // The first operator's counter is also the task's counter of incoming records.
        recordsIn = ofOperator.getNumRecordsInCounter();
        recordsOut = ofOperator.getNumRecordsOutCounter();
        countedByFlink = isCountedByFlink(config, classes) ? 1 : 0;
        taskRecordsOut =
                writesToChannels(config, classes)
                        ? ofTask.getNumRecordsOutCounter()
                        : new SimpleCounter();
        taskBytesIn = ofTask.getNumBytesInCounter();
        taskBytesOut = ofTask.getNumBytesOutCounter();
    }

    /**
     * Returns whether Flink counts records of the main output for the operator. If an operator has
     * chained outputs, Flink counts only what passes the first of them.
     */
    private static boolean isCountedByFlink(StreamConfig config, ClassLoader classes) {
        List<StreamEdge> chained = config.getChainedOutputs(classes);
        return chained.isEmpty() || chained.get(0).getOutputTag() == null;
    }

    private static boolean writesToChannels(StreamConfig config, ClassLoader classes) {
        return config.getOperatorNonChainedOutputs(classes).stream()
                .anyMatch(output -> output.getOutputTag() == null);
    }

    /** Counts the rows of a chunk that arrived through Flink's channel. */
    public void received(Chunk chunk) {
        recordsIn.inc(chunk.rowCount() - 1);
    }

    /**
     * Counts the rows and bytes of a chunk that arrived, itself or announced by a ticket.
     *
     * @param arrived the record in Flink's channel: the chunk or its ticket
     */
    public void received(Chunk chunk, Chunk arrived) {
        received(chunk);
        taskBytesIn.inc(chunk.lengthBytes() - arrived.lengthBytes());
    }

    /** Counts the rows of a chunk that was emitted to the operator's outputs. */
    public void emitted(Chunk chunk) {
        recordsOut.inc(chunk.rowCount() - countedByFlink);
        taskRecordsOut.inc(chunk.rowCount() - 1);
    }

    /** Counts the rows of a chunk that was emitted only to a chained operator of the same task. */
    public void emittedInChain(Chunk chunk) {
        recordsOut.inc(chunk.rowCount() - 1);
    }

    /**
     * Counts the rows and bytes of a chunk that was emitted, itself or announced by a ticket.
     *
     * @param sent the record in Flink's channel: the chunk or its ticket
     */
    public void emitted(Chunk chunk, Chunk sent) {
        emitted(chunk, sent, chunk.lengthBytes());
    }

    /**
     * Does the same for a chunk whose columns were encoded for its ring.
     *
     * @param lengthBytes of the chunk in the ring
     */
    public void emitted(Chunk chunk, Chunk sent, int lengthBytes) {
        emitted(chunk);
        taskBytesOut.inc(lengthBytes - sent.lengthBytes());
    }
}
