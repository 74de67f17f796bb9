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
 * Tells every subtask of the join how far this subtask's rows of a dimension are, by {@link
 * LoadMark}s: when the given watermark has passed or the input has ended, and when the source is
 * idle. Rows that arrive after that watermark are late.
 *
 * <p>Completeness is kept in state and marked again after a restore, as the source may never repeat
 * the watermark. In another parallelism, or if the source reassigns splits on recovery, the rows
 * may come to any subtask, so each waits for the watermark again.
 *
 * <p>The largest watermark follows the mark of completeness: the one sign that a join restored from
 * a release before marks has of sources that had finished.
 *
 * <pre>
 *  load-complete-parallelism: list, split evenly, of one entry a subtask
 *    int32 parallelism in which it is complete, 0 where it is not
 * </pre>
 */
final class LoadMarkOperator extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk>, BoundedOneInput {

    /** In place of a watermark: complete, to be changed afterwards, without waiting for any. */
    static final long FROM_THE_START = Long.MIN_VALUE;

    /** In place of a watermark: complete when there is no more of it. */
    static final long AT_THE_END = Long.MAX_VALUE;

    private static final long serialVersionUID = 1L;

    private static final String NAME = "load-complete-parallelism";
    private static final int NOT_COMPLETE = 0;

    /**
     * The dimension whose rows pass.
     *
     * @param number of the dimension
     * @param partitions radix partitions, whose owners are all told; 0 where the edge to the join
     *     is broadcast
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
    private transient boolean complete;

    private transient boolean marksAtStart;

    /** Said by this attempt. */
    private transient boolean said;

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
        boolean wasComplete = restored.equals(List.of(parallelism())) || takeEarlier(store);
        complete = wasComplete && dimension.keepsSplits() || completeAtWatermark == FROM_THE_START;
        status = complete ? Status.COMPLETE : Status.LOADING;
        watermark = Long.MIN_VALUE;
        marksAtStart = complete || context.isRestored();
    }

    /** What snapshots said before they held the parallelism: a value a subtask, broadcast. */
    private static boolean takeEarlier(OperatorStateStore store) throws Exception {
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
        state.update(List.of(complete ? parallelism() : NOT_COMPLETE));
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
            // Only a running task may emit. A timer fires once it runs.
            long nowMs = getProcessingTimeService().getCurrentProcessingTime();
            getProcessingTimeService().registerTimer(nowMs, at -> markAtStart());
        }
    }

    private void markAtStart() {
        if (complete) {
            complete();
        } else {
            mark(status);
        }
    }

    private void complete() {
        complete = true;
        if (said) {
            return;
        }
        said = true;
        mark(Status.COMPLETE);
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    /**
     * Tells every subtask of the join, by each partition that it owns where rows go by partition.
     */
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

    /** Which rows are late is decided here, so that all replicas of a dimension are alike. */
    @Override
    public void processElement(StreamRecord<Chunk> element) {
        rows.received(element.getValue());
        boolean changes = dimension.spec().dimensions().get(dimension.number()).isChangelog();
        if (complete && !changes && completeAtWatermark != FROM_THE_START) {
            lateRows.accept(element.getValue(), "watermark=" + watermark);
        } else {
            output.collect(element);
        }
    }

    /**
     * The largest one says nothing of the end: it also comes where one channel has ended and the
     * others are idle, and does not from a source that is idle when it ends.
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

    /** A dimension that is complete at its end waits for the end, idle or not. */
    @Override
    public void processWatermarkStatus(WatermarkStatus changed) {
        if (!complete && completeAtWatermark != AT_THE_END) {
            mark(changed.isIdle() ? Status.IDLE : Status.LOADING);
        }
    }
}
