package io.github.gpujoin.flink.exchange;

import io.github.gpujoin.core.layout.Chunk;
import org.apache.flink.metrics.Counter;
import org.apache.flink.metrics.SimpleCounter;
import org.apache.flink.metrics.groups.OperatorIOMetricGroup;
import org.apache.flink.runtime.metrics.groups.TaskIOMetricGroup;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;

/**
 * Makes Flink's own metrics of an operator and its task count rows and their bytes. Flink counts
 * each chunk as one record, and for a chunk that travels beside its channel the bytes of a ticket.
 *
 * <p>For the mailbox thread.
 */
public final class RowCounts {

    private final Counter recordsIn;
    private final Counter recordsOut;
    private final Counter taskRecordsOut;
    private final Counter taskBytesIn;
    private final Counter taskBytesOut;

    /**
     * @param operator which Flink has set up
     */
    public RowCounts(AbstractStreamOperator<?> operator) {
        OperatorIOMetricGroup ofOperator = operator.getMetricGroup().getIOMetricGroup();
        TaskIOMetricGroup ofTask =
                operator.getContainingTask().getEnvironment().getMetricGroup().getIOMetricGroup();
        // The task's count of records that come in is the first operator's own.
        recordsIn = ofOperator.getNumRecordsInCounter();
        recordsOut = ofOperator.getNumRecordsOutCounter();
        taskRecordsOut =
                writesToChannels(operator) ? ofTask.getNumRecordsOutCounter() : new SimpleCounter();
        taskBytesIn = ofTask.getNumBytesInCounter();
        taskBytesOut = ofTask.getNumBytesOutCounter();
    }

    private static boolean writesToChannels(AbstractStreamOperator<?> operator) {
        return operator
                .getOperatorConfig()
                .getOperatorNonChainedOutputs(operator.getUserCodeClassloader())
                .stream()
                .anyMatch(output -> output.getOutputTag() == null);
    }

    /** Counts a chunk that arrived as a record. */
    public void received(Chunk chunk) {
        recordsIn.inc(chunk.rowCount() - 1);
    }

    /**
     * Counts a chunk that arrived as a record, or as a record with a ticket for it.
     *
     * @param arrived the chunk or the ticket
     */
    public void received(Chunk chunk, Chunk arrived) {
        received(chunk);
        taskBytesIn.inc(chunk.lengthBytes() - arrived.lengthBytes());
    }

    /** Counts a chunk that was emitted as a record. */
    public void emitted(Chunk chunk) {
        recordsOut.inc(chunk.rowCount() - 1);
        taskRecordsOut.inc(chunk.rowCount() - 1);
    }

    /** Counts a chunk that was emitted as a record to another operator of the task. */
    public void emittedInChain(Chunk chunk) {
        recordsOut.inc(chunk.rowCount() - 1);
    }

    /**
     * Counts a chunk that was emitted as a record, or as a record with a ticket for it.
     *
     * @param sent the chunk or the ticket
     */
    public void emitted(Chunk chunk, Chunk sent) {
        emitted(chunk);
        taskBytesOut.inc(chunk.lengthBytes() - sent.lengthBytes());
    }
}
