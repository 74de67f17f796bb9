package io.github.gpujoin.flink.pipeline;

import io.github.gpujoin.core.layout.Chunk;
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
 * Tells the join when a dimension is complete: turns the dimension's watermarks into silence before
 * the given one, or the end, and the largest one from there on. The join takes the minimum over all
 * dimensions, so each may be complete at a time of its own.
 *
 * <p>That the rows of a subtask are complete is kept in state and said again after a restore, as
 * its source may never repeat the watermark. In another parallelism its rows may come to any
 * subtask, so there it counts for nothing: each waits for the watermark again.
 *
 * <pre>
 *  load-complete-parallelism: list, split evenly, of one entry a subtask
 *    int32 parallelism in which it is complete, 0 where it is not
 * </pre>
 */
final class LoadCompletion extends AbstractStreamOperator<Chunk>
        implements OneInputStreamOperator<Chunk, Chunk>, BoundedOneInput {

    /** In place of a watermark: complete, to be changed afterwards, without waiting for any. */
    static final long FROM_THE_START = Long.MIN_VALUE;

    /** In place of a watermark: complete when there is no more of it. */
    static final long AT_THE_END = Long.MAX_VALUE;

    private static final long serialVersionUID = 1L;

    private static final String NAME = "load-complete-parallelism";
    private static final int NOT_COMPLETE = 0;

    private final long completeAtWatermark;
    private transient ListState<Integer> state;
    private transient boolean complete;

    /** Said by this attempt. */
    private transient boolean said;

    LoadCompletion(long completeAtWatermark) {
        this.completeAtWatermark = completeAtWatermark;
    }

    @Override
    public void initializeState(StateInitializationContext context) throws Exception {
        super.initializeState(context);
        OperatorStateStore store = context.getOperatorStateStore();
        state = store.getListState(new ListStateDescriptor<>(NAME, IntSerializer.INSTANCE));
        List<Integer> restored = new ArrayList<>();
        state.get().forEach(restored::add);
        boolean wasComplete = restored.equals(List.of(parallelism())) || takeEarlier(store);
        complete = wasComplete || completeAtWatermark == FROM_THE_START;
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
        if (complete) {
            // Not from here: a timer fires once the task runs and may emit.
            long nowMs = getProcessingTimeService().getCurrentProcessingTime();
            getProcessingTimeService().registerTimer(nowMs, at -> complete());
        }
    }

    private void complete() {
        complete = true;
        if (said) {
            return;
        }
        said = true;
        output.emitWatermark(Watermark.MAX_WATERMARK);
    }

    @Override
    public void processElement(StreamRecord<Chunk> element) {
        output.collect(element);
    }

    /**
     * The largest one says nothing of the end: it also comes where one channel has ended and the
     * others are idle, and does not from a source that is idle when it ends.
     */
    @Override
    public void processWatermark(Watermark mark) {
        if (completeAtWatermark != AT_THE_END && mark.getTimestamp() >= completeAtWatermark) {
            complete();
        }
    }

    @Override
    public void endInput() {
        complete();
    }

    /** An idle dimension is not a complete one: silence must hold the join back. */
    @Override
    public void processWatermarkStatus(WatermarkStatus status) {}
}
