package io.github.gpujoin.flink.exchange.backpressure;

import java.util.ArrayList;
import java.util.List;
import org.apache.flink.runtime.event.WatermarkEvent;
import org.apache.flink.runtime.execution.Environment;
import org.apache.flink.runtime.io.network.api.writer.ResultPartitionWriter;
import org.apache.flink.runtime.io.network.buffer.BufferPool;
import org.apache.flink.runtime.io.network.partition.PipelinedResultPartition;
import org.apache.flink.streaming.api.graph.NonChainedOutput;
import org.apache.flink.streaming.api.graph.StreamConfig;
import org.apache.flink.streaming.api.operators.Output;
import org.apache.flink.streaming.api.watermark.Watermark;
import org.apache.flink.streaming.runtime.streamrecord.LatencyMarker;
import org.apache.flink.streaming.runtime.streamrecord.RecordAttributes;
import org.apache.flink.streaming.runtime.streamrecord.StreamRecord;
import org.apache.flink.streaming.runtime.watermarkstatus.WatermarkStatus;
import org.apache.flink.util.IOUtils;
import org.apache.flink.util.OutputTag;
import org.apache.flink.util.function.ThrowingRunnable;

/**
 * The output of an operator at the end of its chain, which receivers in the same process may pause
 * ({@link InputHold}). What the task emits nevertheless, in timers and in front of a barrier, takes
 * overdraft buffers. For the task's thread.
 */
public final class HoldableOutput<T> implements Output<T>, AutoCloseable {

    private record Held(OutputHold hold, BufferPool pool) {}

    private final Output<T> output;
    private final List<Held> partitions;
    private boolean emits;

    private HoldableOutput(Output<T> output, List<Held> partitions) {
        this.output = output;
        this.partitions = partitions;
    }

    /**
     * Returns the output, holdable on all partitions that the operator writes to, side outputs
     * included.
     *
     * @param operator whose output it is
     */
    public static <T> HoldableOutput<T> of(
            Output<T> output, StreamConfig operator, Environment task, ClassLoader classes) {
        List<Held> partitions = new ArrayList<>();
        for (NonChainedOutput edge : operator.getOperatorNonChainedOutputs(classes)) {
            for (ResultPartitionWriter writer : task.getAllWriters()) {
                if (writer instanceof PipelinedResultPartition partition
                        && edge.getDataSetId()
                                .equals(
                                        partition
                                                .getPartitionId()
                                                .getPartitionId()
                                                .getIntermediateDataSetID())) {
                    partitions.add(
                            new Held(
                                    OutputHold.of(partition.getPartitionId()),
                                    partition.getBufferPool()));
                }
            }
        }
        if (task.getAllInputGates().length == 0) {
            partitions.forEach(held -> held.hold().holdSource());
        }
        return new HoldableOutput<>(output, partitions);
    }

    /**
     * Emits what goes before a barrier.
     *
     * @param emission emits all rows before the barrier of the checkpoint
     */
    public void emitBeforeBarrier(long checkpoint, ThrowingRunnable<Exception> emission)
            throws Exception {
        emit(
                () -> {
                    emission.run();
                    partitions.forEach(held -> held.hold().passed(checkpoint));
                });
    }

    private <E extends Exception> void emit(ThrowingRunnable<E> emission) throws E {
        if (emits) {
            emission.run();
            return;
        }
        emits = true;
        partitions.forEach(held -> held.hold().beginEmission(held.pool()));
        try {
            emission.run();
        } finally {
            partitions.forEach(held -> held.hold().endEmission(held.pool()));
            emits = false;
        }
    }

    @Override
    public void collect(T element) {
        emit(() -> output.collect(element));
    }

    @Override
    public <X> void collect(OutputTag<X> tag, StreamRecord<X> element) {
        emit(() -> output.collect(tag, element));
    }

    @Override
    public void emitWatermark(Watermark mark) {
        emit(() -> output.emitWatermark(mark));
    }

    @Override
    public void emitWatermark(WatermarkEvent watermark) {
        emit(() -> output.emitWatermark(watermark));
    }

    @Override
    public void emitWatermarkStatus(WatermarkStatus status) {
        emit(() -> output.emitWatermarkStatus(status));
    }

    @Override
    public void emitLatencyMarker(LatencyMarker marker) {
        emit(() -> output.emitLatencyMarker(marker));
    }

    @Override
    public void emitRecordAttributes(RecordAttributes attributes) {
        emit(() -> output.emitRecordAttributes(attributes));
    }

    /** Ends all holds; Flink closes the output itself. */
    public void release() throws Exception {
        List<OutputHold> holds = partitions.stream().map(Held::hold).toList();
        IOUtils.closeAll(holds);
    }

    @Override
    public void close() {
        output.close();
    }
}
