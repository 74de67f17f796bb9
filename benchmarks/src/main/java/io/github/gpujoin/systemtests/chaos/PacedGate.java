// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.systemtests.chaos;

import io.github.gpujoin.core.layout.Chunk;
import java.util.concurrent.TimeUnit;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;

/**
 * Stands in a source's chain and makes its moments long enough to be hit: rows pass at a rate, the
 * barrier is held back for a while, and so is the snapshot after it. Markers tell of each.
 */
final class PacedGate extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk>, BoundedOneInput {

    private static final long serialVersionUID = 1L;

    private final String table;
    private final Markers markers;
    private final int rowsPerSecond;
    private final long holdMs;

    private transient long startNs;
    private transient long rows;

    /**
     * @param rowsPerSecond of one subtask
     * @param holdMs for which subtask 0 holds back a barrier, and then its snapshot
     */
    PacedGate(String table, Markers markers, int rowsPerSecond, long holdMs) {
        this.table = table;
        this.markers = markers;
        this.rowsPerSecond = rowsPerSecond;
        this.holdMs = holdMs;
    }

    /** Set as long as the table is read, to the process that reads it. */
    static String readBy(String table, int subtask) {
        return table + "-" + subtask + "-read-by";
    }

    /** Set when a table has been read to its end. */
    static String ended(String table) {
        return table + "-ended";
    }

    /** Set when the barrier of a checkpoint is held back, or the snapshot. */
    static String held(Fault.Point point) {
        return "held-" + point;
    }

    @Override
    public void open() throws Exception {
        super.open();
        startNs = System.nanoTime();
        markers.set(readBy(table, subtask()), ProcessHandle.current().pid());
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) throws Exception {
        rows += element.getValue().rowCount();
        long dueNs = startNs + TimeUnit.SECONDS.toNanos(1) * rows / rowsPerSecond;
        TimeUnit.NANOSECONDS.sleep(dueNs - System.nanoTime());
        output.collect(element);
    }

    @Override
    public void prepareSnapshotPreBarrier(long checkpointId) throws Exception {
        super.prepareSnapshotPreBarrier(checkpointId);
        hold(Fault.Point.BARRIER, checkpointId);
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        hold(Fault.Point.SNAPSHOT, context.getCheckpointId());
    }

    private void hold(Fault.Point point, long checkpointId) throws InterruptedException {
        if (holdMs > 0 && subtask() == 0) {
            markers.set(held(point), checkpointId);
            TimeUnit.MILLISECONDS.sleep(holdMs);
        }
    }

    @Override
    public void endInput() {
        markers.set(ended(table), subtask());
    }

    private int subtask() {
        return getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
    }
}
