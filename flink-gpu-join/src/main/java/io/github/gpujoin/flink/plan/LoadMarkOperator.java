// SPDX-FileCopyrightText: The GPU join for Apache Flink authors
// SPDX-License-Identifier: Apache-2.0
package io.github.gpujoin.flink.plan;

import io.github.gpujoin.core.engine.JoinSpec;
import io.github.gpujoin.core.layout.Chunk;
import io.github.gpujoin.core.layout.ChunkDescriptor;
import io.github.gpujoin.core.layout.ChunkSchema;
import io.github.gpujoin.flink.exchange.LoadMark;
import io.github.gpujoin.flink.exchange.LoadMark.Status;
import io.github.gpujoin.flink.exchange.RowCountingOutput;
import io.github.gpujoin.flink.exchange.RowCounts;
import io.github.gpujoin.flink.runtime.LateRowPolicy;
import io.github.gpujoin.flink.runtime.LateRows;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.List;
import org.apache.flink.api.common.state.BroadcastState;
import org.apache.flink.api.common.state.ListState;
import org.apache.flink.api.common.state.ListStateDescriptor;
import org.apache.flink.api.common.state.MapStateDescriptor;
import org.apache.flink.api.common.state.OperatorStateStore;
import org.apache.flink.api.common.typeutils.base.BooleanSerializer;
import org.apache.flink.api.common.typeutils.base.IntSerializer;
import org.apache.flink.runtime.state.StateInitializationContext;
import org.apache.flink.runtime.state.StateSnapshotContext;
import org.apache.flink.streaming.api.operators.AbstractStreamOperator;
import org.apache.flink.streaming.api.operators.BoundedOneInput;
import org.apache.flink.streaming.api.operators.OneInputStreamOperator;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;

/**
 * Reports the load status of this subtask's rows of a dimension to each subtask of the join, by
 * {@link LoadMark}s. The rows are complete when the watermark passes a given time or the input
 * ends; marks also report that the source is idle or active. Rows that arrive after that watermark
 * are late.
 *
 * <p>State holds the completeness, and marks repeat it after a restore, as the source may never
 * repeat the watermark. In another parallelism, or if the source reassigns splits on recovery, the
 * rows may arrive at any subtask, so each waits for the watermark again.
 *
 * <p>The largest watermark follows the mark of completeness. A join that is restored from a release
 * without marks detects finished sources by this watermark only.
 *
 * <pre>
 *  load-complete-parallelism: list, split evenly, of one entry per subtask
 *    int32 parallelism in which the subtask is complete, 0 if it is not
 * </pre>
 */
final class LoadMarkOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk>, BoundedOneInput {

    /** Replaces a watermark: the dimension is complete from the start, and changes afterwards. */
    static final long FROM_THE_START = Long.MIN_VALUE;

    /** Replaces a watermark: the dimension is complete at the end of its input. */
    static final long AT_THE_END = Long.MAX_VALUE;

    private static final long serialVersionUID = 1L;

    private static final String NAME = "load-complete-parallelism";
    private static final int NOT_COMPLETE = 0;

    /**
     * The dimension whose rows pass the operator.
     *
     * @param number index of the dimension
     * @param partitions count of radix partitions, one mark for each; 0 if the edge to the join is
     *     broadcast
     * @param keepsSplits whether subtasks of its sources keep their splits in a restart
     */
    record Loaded(
            JoinSpec spec, int number, int partitions, LateRowPolicy lateRows, boolean keepsSplits)
            implements Serializable {}

    private final long completeAtWatermark;
    private final Loaded dimension;
    private transient LateRows lateRows;
    private transient long watermark;
    private transient Status status;
    private transient ListState<Integer> state;
    private transient RowCounts rows;
    private transient boolean isComplete;

    private transient boolean marksAtStart;

    /** Whether this attempt has marked the completeness. */
    private transient boolean isMarked;

    LoadMarkOperator(long completeAtWatermark, Loaded dimension) {
        this.completeAtWatermark = completeAtWatermark;
        this.dimension = dimension;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        OperatorStateStore store = context.getOperatorStateStore();
        state = store.getListState(new ListStateDescriptor<>(NAME, IntSerializer.INSTANCE));
        List<Integer> restored = new ArrayList<>();
        state.get().forEach(restored::add);
        boolean wasComplete = restored.equals(List.of(parallelism())) || restoreEarlier(store);
        isComplete =
                wasComplete && dimension.keepsSplits() || completeAtWatermark == FROM_THE_START;
        status = isComplete ? Status.COMPLETE : Status.LOADING;
        watermark = Long.MIN_VALUE;
        marksAtStart = isComplete || context.isRestored();
    }

    /**
     * Reads the broadcast state of earlier releases, whose snapshots do not contain the
     * parallelism.
     */
    private static boolean restoreEarlier(OperatorStateStore store) throws Exception {
        BroadcastState<Integer, Boolean> earlier =
                store.getBroadcastState(
                        new MapStateDescriptor<>(
                                "load-complete",
                                IntSerializer.INSTANCE,
                                BooleanSerializer.INSTANCE));
        boolean complete = earlier.contains(0);
        earlier.clear();
        return complete;
    }

    private int parallelism() {
        return getRuntimeContext().getTaskInfo().getNumberOfParallelSubtasks();
    }

    @Override
    public void snapshotState(StateSnapshotContext context) throws Exception {
        super.snapshotState(context);
        state.update(List.of(isComplete ? parallelism() : NOT_COMPLETE));
    }

    @Override
    public void open() throws Exception {
        super.open();
        rows = new RowCounts(this);
        output = new RowCountingOutput<>(output, rows);
        lateRows =
                new LateRows(
                        dimension.spec(),
                        dimension.lateRows(),
                        output,
                        getMetricGroup().counter("lateDimensionRows"),
                        true);
        if (marksAtStart) {
            // Only a running task may emit; a timer fires once the task runs.
            long nowMs = getProcessingTimeService().getCurrentProcessingTime();
            getProcessingTimeService().registerTimer(nowMs, at -> markAtStart());
        }
    }

    private void markAtStart() {
        if (isComplete) {
            complete();
        } else {
            mark(status);
        }
    }

    private void complete() {
        isComplete = true;
        if (isMarked) {
            return;
        }
        isMarked = true;
        mark(Status.COMPLETE);
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    /** Emits marks to each subtask of the join: one per partition if rows are sent by partition. */
    private void mark(Status changed) {
        status = changed;
        if (dimension.partitions() == 0) {
            mark(changed, ChunkDescriptor.UNPARTITIONED);
        }
        for (int partition = 0; partition < dimension.partitions(); partition++) {
            mark(changed, partition);
        }
    }

    private void mark(Status changed, int partition) {
        int subtask = getRuntimeContext().getTaskInfo().getIndexOfThisSubtask();
        LoadMark mark =
                new LoadMark(dimension.number(), partition, subtask, parallelism(), changed);
        ChunkSchema schema = dimension.spec().dimensions().get(dimension.number()).schema();
        output.collect(new StreamRecord<>(mark.toChunk(schema)));
    }

    /**
     * Detects late rows before they are replicated, so that all replicas of a dimension are equal.
     */
    @Override
    public void processElement(StreamRecord<Chunk> element) {
        rows.received(element.getValue());
        boolean changes = dimension.spec().dimensions().get(dimension.number()).isChangelog();
        if (isComplete && !changes && completeAtWatermark != FROM_THE_START) {
            lateRows.accept(element.getValue(), "watermark=" + watermark);
        } else {
            output.collect(element);
        }
    }

    /**
     * Completes the dimension at its watermark. The largest watermark does not imply the end of the
     * input: it also arrives if one channel has ended while the others are idle, and a source that
     * is idle when it ends does not emit it.
     */
    @Override
    public void processWatermark(Watermark mark) {
        watermark = mark.getTimestamp();
        if (completeAtWatermark != AT_THE_END && mark.getTimestamp() >= completeAtWatermark) {
            complete();
        }
    }

    @Override
    public void endInput() {
        complete();
    }

    /** Marks idleness, except of a dimension that is complete at its end only. */
    @Override
    public void processWatermarkStatus(WatermarkStatus changed) {
        if (!isComplete && completeAtWatermark != AT_THE_END) {
            mark(changed.isIdle() ? Status.IDLE : Status.LOADING);
        }
    }
}
